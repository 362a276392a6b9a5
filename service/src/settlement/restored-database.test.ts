import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { type LyingNode, startLyingNode } from '../../test/support/lying-node.ts';
import { saleWorker, UNIT } from '../../test/support/sale.ts';
import { blockedCount, forgetTransaction, useSale } from '../../test/support/settlement.ts';

let second: LyingNode;
const sale = useSale({
  moreUrls: async (chain) => {
    second = await startLyingNode((await chain.addNode()).url);
    return [`${second.url}#provider=second`];
  },
});
afterEach(() => {
  second.lie(null);
  sale.resumeMining();
});
afterAll(() => second.close());

async function sendAndForget(): Promise<string> {
  const { round } = saleWorker(sale);
  await sale.participate(sale.buyer(0), UNIT);
  await saleWorker(sale).settle();
  await sale.buyer(1).approve(10n ** 12n);
  const { id } = await sale.participate(sale.buyer(1), 9n * UNIT);
  sale.pauseMining();
  await round();
  expect(await sale.statusOf(id)).toBe('submitted');
  await forgetTransaction(sale, id, 'commit');
  return id;
}

describe('after the database has lost a transaction that is in the mempool', () => {
  test('nothing is signed, even if another node shows no mempool later', async () => {
    const id = await sendAndForget();
    const { round } = saleWorker(sale);
    await round();
    expect(await sale.statusOf(id)).toBe('pending');
    expect(await blockedCount(sale, 'foreign_nonce')).toBeGreaterThan(0);
    const hideMempool = saleWorker(sale);
    const { chain } = hideMempool.worker.account;
    const latestOnly: typeof chain.rpc.request = (call) =>
      chain.rpc.request({
        ...call,
        params: JSON.parse(JSON.stringify(call.params).replace('pending', 'latest')),
      });
    const providers = () => chain.rpc.providers().map((rpc) => ({ ...rpc, request: latestOnly }));
    hideMempool.worker.account.chain = { ...chain, rpc: { ...chain.rpc, request: latestOnly, providers } };
    await hideMempool.round();
    expect(await sale.statusOf(id)).toBe('pending');
    expect(await blockedCount(sale, 'foreign_nonce')).toBeGreaterThan(0);
    await sale.mine(1);
    await round();
    expect(await sale.statusOf(id)).toBe('pending');
    expect((await sale.totalsOf(sale.buyer(1).address)).count).toBe(1n);
  });
});
