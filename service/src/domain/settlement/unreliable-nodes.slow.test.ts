import type { Hex } from 'viem';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type LyingNode, startLyingNode } from '../../../test/support/lying-node.ts';
import { saleWorker, UNIT } from '../../../test/support/sale.ts';
import { blockedCount, expectDatabaseToMatchFund, useSale } from '../../../test/support/settlement.ts';
import { findChainIdProblems } from '../../platform/chain/evm/node-reads.ts';
import { checkContracts } from '../offer-files/contract-checks.ts';

let second: LyingNode;
const sale = useSale({
  config: { settlementQuorumUsd: 100 },
  moreUrls: async (chain) => {
    second = await startLyingNode((await chain.addNode()).url);
    return [`${second.url}#provider=second`];
  },
});
beforeAll(() => sale.mine(60));
afterEach(() => {
  sale.node.fault.set('none');
  second.lie(null);
  sale.resumeMining();
});
afterAll(() => second.close());

const evm = () => sale.app.ctx.chains.evm('ethereum_sepolia');

/**
 * Creates a prepared row, then mines its approval while the first node is frozen and does not see new blocks.
 */
async function approveBehindFrozenNode(): Promise<string> {
  sale.pauseMining();
  const { id, status } = await sale.participate(sale.buyer(0), 5n * UNIT);
  expect(status).toBe('prepared');
  sale.node.fault.set('stale');
  await sale.mine(1);
  sale.resumeMining();
  sale.app.clock.advance(31 * 60);
  await sale.mine(1);
  return id;
}

test('a commit is sent to every node', async () => {
  const before = second.received('eth_sendRawTransaction');
  const { id } = await sale.participate(sale.buyer(3), 5n * UNIT);
  const { settle } = saleWorker(sale);
  await settle();
  await expect.poll(() => second.received('eth_sendRawTransaction')).toBe(before + 1);
  await settle();
  expect(await sale.statusOf(id)).toBe('completed');
});

describe('a frozen node', () => {
  test('fails no row by time, and another node is preferred to it', async () => {
    const id = await approveBehindFrozenNode();
    const { settle } = saleWorker(sale);
    await settle();
    expect(await sale.statusOf(id)).not.toBe('failed');
    await evm().rpc.survey();
    await settle();
    await settle();
    expect(await sale.statusOf(id)).toBe('completed');
    await expectDatabaseToMatchFund(sale);
  });

  test('fails no row by time as the only node that answers', async () => {
    const id = await approveBehindFrozenNode();
    second.lie(() => undefined);
    const { settle } = saleWorker(sale);
    await settle();
    expect(await sale.statusOf(id)).toBe('prepared');
    sale.node.fault.set('none');
    second.lie(null);
    await settle();
    await settle();
    expect(await sale.statusOf(id)).toBe('completed');
  });

  test('is not demoted by a node that claims a head in the future', async () => {
    second.lie((method, result) =>
      method === 'eth_getBlockByNumber'
        ? { ...(result as object), number: '0xffffff', timestamp: '0xffffffff' }
        : result,
    );
    await evm().rpc.survey();
    const answer = (await evm().rpc.request({
      method: 'eth_getBlockByNumber',
      params: ['latest', false],
    })) as {
      number: Hex;
    };
    expect(answer.number).not.toBe('0xffffff');
  });
});

describe('a verdict of one provider alone', () => {
  const hideReceipts = (method: string, result: unknown) =>
    method === 'eth_getTransactionReceipt' ? null : result;

  test.each([
    ['does not end a row above the limit', 101n, 'submitted'],
    ['ends a row up to the limit', 100n, 'completed'],
  ] as const)('%s', async (_name, dollars, status) => {
    const { settle } = saleWorker(sale);
    const { id } = await sale.participate(sale.buyer(1), dollars * UNIT);
    second.lie(hideReceipts);
    await settle();
    await settle();
    expect(await sale.statusOf(id)).toBe(status);
    expect((await blockedCount(sale, 'providers_disagree')) > 0).toBe(status === 'submitted');
    second.lie(null);
    await settle();
    expect(await sale.statusOf(id)).toBe('completed');
    await expectDatabaseToMatchFund(sale);
  });

  test('does not fail a row above the limit for an approval that only it misses', async () => {
    const unknown: Hex = `0x${'cd'.repeat(32)}`;
    const request = sale.request(sale.buyer(2), 200n * UNIT, unknown);
    const { body } = await sale.person.call('POST', '/v1/participations', request);
    sale.app.clock.advance(31 * 60);
    await sale.mine(1);
    const { settle } = saleWorker(sale);
    second.lie((method, result) =>
      method === 'eth_getTransactionReceipt' ? { status: '0x1', blockNumber: '0x1', logs: [] } : result,
    );
    await settle();
    expect(await sale.statusOf(String(body.id))).toBe('prepared');
    second.lie(null);
    await settle();
    expect(await sale.reasonOf(String(body.id))).toBe('approval_not_mined');
  });
});

describe('a node of another chain', () => {
  const claimMainnet = (method: string, result: unknown) => (method === 'eth_chainId' ? '0x1' : result);

  test('is named at start and is not used', async () => {
    second.lie(claimMainnet);
    const line = 'RPC_URL_ETHEREUM_SEPOLIA: the endpoint of second serves chain id 1, not 11155111';
    expect(await findChainIdProblems(evm())).toEqual([line]);
    sale.node.fault.set('down');
    await expect(evm().rpc.request({ method: 'eth_blockNumber' })).rejects.toMatchObject({ status: 503 });
    second.lie(null);
    expect(await findChainIdProblems(evm())).toEqual([]);
  });

  test('makes offer apply refuse the offer', async () => {
    second.lie(claimMainnet);
    const keys = { addressOf: () => null, solanaOperatorsOf: () => [] };
    const parts = { chains: sale.app.ctx.chains, digits: new Map(), ...keys };
    const file = { slug: 'a-sale', contracts: [{ chain: 'ethereum_sepolia' }] };
    const problems = await checkContracts(parts, file as never);
    expect(problems).toEqual([expect.stringContaining('serves chain id 1, not 11155111')]);
  });
});
