import { afterAll, afterEach, expect, test } from 'vitest';
import { type LyingNode, startLyingNode } from '../../../test/support/lying-node.ts';
import { saleWorker, UNIT } from '../../../test/support/sale.ts';
import { blockedCount, expectDatabaseToMatchFund, useSale } from '../../../test/support/settlement.ts';

let first: LyingNode;
let second: LyingNode;
const sale = useSale({
  firstUrl: async (url) => {
    first = await startLyingNode(url);
    return first.url;
  },
  moreUrls: async (chain) => {
    second = await startLyingNode((await chain.addNode()).url);
    return [`${second.url}#provider=second`];
  },
});
afterEach(() => {
  for (const node of [first, second]) node.lie(null);
  sale.resumeMining();
});
afterAll(async () => {
  for (const node of [first, second]) await node.close();
});

const INDEXING = { fault: { code: -32_000, message: 'transaction indexing is in progress' } };
const failReceipts = (method: string, result: unknown) =>
  method === 'eth_getTransactionReceipt' ? INDEXING : result;
const hideReceipts = (method: string, result: unknown) =>
  method === 'eth_getTransactionReceipt' ? null : result;

test.each([
  ['an error', failReceipts],
  ['null', hideReceipts],
] as const)('receipts that one node answers with %s are read from the next provider', async (_name, lie) => {
  first.lie(lie);
  const { id, status } = await sale.participate(sale.buyer(0), 2n * UNIT);
  expect(status).toBe('pending');
  const { settle } = saleWorker(sale, { timings: { nonceGraceMs: -1 } });
  await settle();
  await settle();
  expect(await sale.statusOf(id)).toBe('completed');
  expect(await blockedCount(sale, 'foreign_nonce')).toBe(0);
  await expectDatabaseToMatchFund(sale);
});

test('if no node can read receipts, the request fails with upstream_error and can be repeated', async () => {
  const hash = await sale.buyer(1).approve(2n * UNIT);
  const request = sale.request(sale.buyer(1), 2n * UNIT, hash);
  for (const node of [first, second]) node.lie(failReceipts);
  const failed = await sale.person.call('POST', '/v1/participations', request);
  expect(failed).toMatchObject({ status: 502, body: { code: 'upstream_error' } });
  for (const node of [first, second]) node.lie(null);
  const repeated = await sale.person.call('POST', '/v1/participations', request);
  expect(repeated).toMatchObject({ status: 200, body: { status: 'pending' } });
});

test('without a latest block, the request fails with upstream_error', async () => {
  const hash = await sale.buyer(2).approve(2n * UNIT);
  for (const node of [first, second])
    node.lie((method, result) => (method === 'eth_getBlockByNumber' ? null : result));
  const request = sale.request(sale.buyer(2), 2n * UNIT, hash);
  const failed = await sale.person.call('POST', '/v1/participations', request);
  expect(failed).toMatchObject({ status: 502, body: { code: 'upstream_error' } });
});

test('a receipt without effectiveGasPrice settles its participation', async () => {
  const { id } = await sale.participate(sale.buyer(3), 2n * UNIT);
  for (const node of [first, second])
    node.lie((method, result) =>
      method === 'eth_getTransactionReceipt' && result !== null
        ? { ...(result as object), effectiveGasPrice: undefined }
        : result,
    );
  const { settle } = saleWorker(sale);
  await settle();
  await settle();
  expect(await sale.statusOf(id)).toBe('completed');
});
