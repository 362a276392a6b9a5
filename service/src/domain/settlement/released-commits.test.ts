import { describe, expect, test } from 'vitest';
import { type Buyer, saleWorker, UNIT } from '../../../test/support/sale.ts';
import {
  blockedCount,
  commitAttempts,
  dropFromPool,
  firstAttempt,
  rejectingWorker,
  stopFund,
  useComparedSale,
} from '../../../test/support/settlement.ts';
import { NodeError } from '../../platform/chain/rpc/failures.ts';

const sale = useComparedSale();

describe('a commit that reverted through no fault of its rows', () => {
  /**
   * Makes a commit revert: stops the fund just before the commit, in the same block. Returns the ids of the commit's
   * rows.
   */
  async function revertCommit(count: number): Promise<string[]> {
    const ids: string[] = [];
    for (let i = 0; i < count; i++) ids.push((await sale.participate(sale.buyer(2 + i), 3n * UNIT)).id);
    sale.pauseMining();
    await saleWorker(sale).round();
    const sent = await firstAttempt(sale, ids[0] ?? '');
    await dropFromPool(sale, sent.hash);
    await stopFund(sale, 2n);
    await sale.chain.chain.request({ method: 'eth_sendRawTransaction', params: [sent.raw] });
    await sale.mine(1);
    sale.resumeMining();
    return ids;
  }

  const statusesOf = (ids: string[]) => Promise.all(ids.map((id) => sale.statusOf(id)));

  test.each([
    [1, 'a single row'],
    [3, 'a batch'],
  ])('releases its rows at a depth of 64 blocks and not earlier (%i: %s)', async (count) => {
    const ids = await revertCommit(count);
    const reverted = await firstAttempt(sale, ids[0] ?? '');
    const { settle } = saleWorker(sale);
    await settle();
    expect(await blockedCount(sale, 'fund_stopped')).toBeGreaterThan(0);
    await stopFund(sale, 0n);
    await sale.mine(61);
    await settle();
    expect(await statusesOf(ids)).toEqual(ids.map(() => 'submitted'));
    await sale.mine(1);
    await settle();
    await settle();
    expect(await statusesOf(ids)).toEqual(ids.map(() => 'completed'));
    for (const id of ids) {
      expect(await sale.eventsOf(id)).toEqual(['pending', 'submitted', 'pending', 'submitted', 'completed']);
      expect((await commitAttempts(sale, id))[0]?.transaction).not.toBe(reverted.transaction);
    }
  });

  test('is mined again and counts once if a reorganisation undoes it earlier', async () => {
    const ids = await revertCommit(2);
    const reverted = await firstAttempt(sale, ids[0] ?? '');
    await saleWorker(sale).settle();
    await sale.chain.chain.reorg({ depth: 1, transactions: 'drop' });
    await saleWorker(sale, { timings: { resendSeconds: -1 } }).settle();
    await saleWorker(sale).settle();
    expect(await statusesOf(ids)).toEqual(['completed', 'completed']);
    for (const id of ids) expect((await commitAttempts(sale, id))[0]?.transaction).toBe(reverted.transaction);
    await sale.mine(70);
    await saleWorker(sale).settle();
    for (const id of ids) expect(await sale.eventsOf(id)).toEqual(['pending', 'submitted', 'completed']);
  });

  test('releases its rows without stopping settlement if the node has pruned the reason', async () => {
    const ids = await revertCommit(1);
    await stopFund(sale, 0n);
    const { settle } = rejectingWorker(sale, {}, (method, params) =>
      method === 'eth_call' && params[1] !== 'latest'
        ? new NodeError(-32_000, 'missing trie node', undefined)
        : undefined,
    );
    const other = await sale.participate(sale.buyer(0), 2n * UNIT);
    await settle();
    await settle();
    expect(await statusesOf([...ids, other.id])).toEqual(['submitted', 'completed']);
    await sale.mine(64);
    await settle();
    await settle();
    expect(await statusesOf(ids)).toEqual(['completed']);
  });

  test('does not count towards the limit of open transactions', async () => {
    const ids: string[] = [];
    /** Approves more than the amount, because commits in progress reserve their part of the allowance. */
    const participate = async (buyer: Buyer, amount: bigint): Promise<string> => {
      const hash = await buyer.approve(100n * UNIT);
      const reply = await sale.person.call('POST', '/v1/participations', sale.request(buyer, amount, hash));
      return String(reply.body.id);
    };
    for (let i = 0; i < 8; i++) {
      ids.push(await participate(sale.buyer(i % 6), 3n * UNIT));
      sale.pauseMining();
      await saleWorker(sale).round();
      for (const { hash } of await commitAttempts(sale, ids.at(-1) ?? '')) await dropFromPool(sale, hash);
      sale.resumeMining();
    }
    sale.pauseMining();
    await stopFund(sale, 2n);
    await saleWorker(sale, { timings: { resendSeconds: -1 } }).round();
    await sale.mine(1);
    sale.resumeMining();
    await stopFund(sale, 0n);
    const other = await participate(sale.buyer(0), 2n * UNIT);
    await saleWorker(sale).settle();
    await saleWorker(sale).settle();
    expect(await sale.statusOf(other)).toBe('completed');
    expect(await statusesOf(ids)).toEqual(ids.map(() => 'submitted'));
    await sale.mine(64);
    await saleWorker(sale).settle();
    await saleWorker(sale).settle();
    expect(new Set(await statusesOf(ids))).toEqual(new Set(['completed']));
  });
});
