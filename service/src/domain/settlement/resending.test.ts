import { toHex } from 'viem/utils';
import { describe, expect, test } from 'vitest';
import { saleWorker, UNIT } from '../../../test/support/sale.ts';
import {
  blockedCount,
  commitAttempts,
  dropFromPool,
  firstAttempt,
  isKnownToNode,
  lowerBaseFee,
  outbidPending,
  rejectingWorker,
  useComparedSale,
} from '../../../test/support/settlement.ts';
import { NodeError } from '../../platform/chain/rpc/failures.ts';

const sale = useComparedSale();

const nodeError = (message: string) => new NodeError(-32_000, message, undefined);

describe('an unmined transaction', () => {
  test('is sent again byte for byte if the node has forgotten it', async () => {
    const { round, settle } = saleWorker(sale, { timings: { resendSeconds: -1 } });
    const { id } = await sale.participate(sale.buyer(0), 2n * UNIT);
    sale.pauseMining();
    await round();
    const sent = await firstAttempt(sale, id);
    await dropFromPool(sale, sent.hash);
    expect(await isKnownToNode(sale, sent.hash)).toBe(false);
    await round();
    expect(await isKnownToNode(sale, sent.hash)).toBe(true);
    expect(await commitAttempts(sale, id)).toEqual([sent]);
    sale.resumeMining();
    await sale.mine(1);
    await settle();
    expect(await sale.eventsOf(id)).toEqual(['pending', 'submitted', 'completed']);
  });

  test('keeps its rows no matter how many blocks pass', async () => {
    const { round } = saleWorker(sale);
    const { id } = await sale.participate(sale.buyer(0), 2n * UNIT);
    sale.pauseMining();
    await round();
    const sent = await firstAttempt(sale, id);
    await dropFromPool(sale, sent.hash);
    await sale.mine(80);
    for (let i = 0; i < 3; i++) await round();
    expect(await sale.statusOf(id)).toBe('submitted');
    expect(await commitAttempts(sale, id)).toEqual([sent]);
    sale.resumeMining();
    await saleWorker(sale, { timings: { resendSeconds: -1 } }).settle();
    await saleWorker(sale).settle();
    expect(await sale.statusOf(id)).toBe('completed');
    expect(await commitAttempts(sale, id)).toEqual([sent]);
  });

  test('raises an alert at the fee cap and is still sent again', async () => {
    const { worker, round, settle } = saleWorker(sale, { timings: { resendSeconds: -1, bumpSeconds: -1 } });
    const { id } = await sale.participate(sale.buyer(0), 2n * UNIT);
    sale.pauseMining();
    await round();
    const sent = await firstAttempt(sale, id);
    await round();
    await dropFromPool(sale, sent.hash);
    await outbidPending(sale);
    worker.account.maxFee = sent.maxFee;
    await round();
    expect(await blockedCount(sale, 'fee_cap')).toBeGreaterThan(0);
    expect(await isKnownToNode(sale, sent.hash)).toBe(true);
    expect(await commitAttempts(sale, id)).toEqual([sent]);
    await lowerBaseFee(sale);
    sale.resumeMining();
    await sale.mine(1);
    await settle();
    expect(await sale.statusOf(id)).toBe('completed');
    expect(await blockedCount(sale, 'fee_cap')).toBe(0);
  });

  test('is replaced with higher fees once blocks pass that ask for more, and only one of the two counts', async () => {
    const { round, settle } = saleWorker(sale, { timings: { bumpSeconds: -1 } });
    const { id } = await sale.participate(sale.buyer(0), 6n * UNIT);
    sale.pauseMining();
    await round();
    await round();
    await outbidPending(sale);
    await round();
    expect((await commitAttempts(sale, id)).length).toBe(2);
    await lowerBaseFee(sale);
    sale.resumeMining();
    await sale.mine(1);
    await settle();
    expect(await sale.statusOf(id)).toBe('completed');
  });

  test('is not replaced while the chain stands still, whatever its age', async () => {
    const { round, settle } = saleWorker(sale, { timings: { bumpSeconds: -1 } });
    const { id } = await sale.participate(sale.buyer(0), 2n * UNIT);
    sale.pauseMining();
    for (let i = 0; i < 5; i++) await round();
    expect((await commitAttempts(sale, id)).length).toBe(1);
    sale.resumeMining();
    await sale.mine(1);
    await settle();
    expect(await sale.statusOf(id)).toBe('completed');
  });

  test('waits at the daily limit, which raises an alert', async () => {
    const { worker, round, settle } = saleWorker(sale);
    worker.account.dailyLimit = 1n;
    const { id } = await sale.participate(sale.buyer(0), 2n * UNIT);
    await round();
    expect(await sale.statusOf(id)).toBe('pending');
    expect(await blockedCount(sale, 'daily_limit')).toBeGreaterThan(0);
    worker.account.dailyLimit = 10n ** 21n;
    await settle();
    expect(await sale.statusOf(id)).toBe('completed');
  });

  test('is signed again with higher fees if nodes reject it as underpriced', async () => {
    let rejected = 0;
    const { round, settle } = rejectingWorker(sale, { resendSeconds: -1, bumpSeconds: -1 }, (method) => {
      if (method !== 'eth_sendRawTransaction' || rejected >= 2) return undefined;
      rejected++;
      return nodeError('max fee per gas less than block base fee');
    });
    const { id } = await sale.participate(sale.buyer(0), 2n * UNIT);
    await round();
    expect(await sale.statusOf(id)).toBe('submitted');
    await round();
    const [first, second, ...more] = await commitAttempts(sale, id);
    expect(more).toEqual([]);
    expect(second?.maxFee).toBeGreaterThan(((first?.maxFee ?? 0n) * 9n) / 8n);
    await settle();
    expect(await sale.statusOf(id)).toBe('completed');
  });

  test('raises an alert and keeps its fees if nodes reject it for another reason', async () => {
    let isRejecting = true;
    const { round, settle } = rejectingWorker(sale, { resendSeconds: -1, bumpSeconds: -1 }, (method) =>
      isRejecting && method === 'eth_sendRawTransaction' ? nodeError('the pool is full') : undefined,
    );
    const { id } = await sale.participate(sale.buyer(0), 2n * UNIT);
    await round();
    await round();
    expect(await blockedCount(sale, 'refused')).toBeGreaterThan(0);
    expect((await commitAttempts(sale, id)).length).toBe(1);
    isRejecting = false;
    await settle();
    await settle();
    expect(await sale.statusOf(id)).toBe('completed');
    expect(await blockedCount(sale, 'refused')).toBe(0);
  });

  test('is sent again only after resendSeconds if nodes reject it, with one log line per reason', async () => {
    let sent = 0;
    let isRejecting = true;
    const { worker, round, settle } = rejectingWorker(sale, { resendSeconds: 600 }, (method) => {
      if (method !== 'eth_sendRawTransaction' || !isRejecting) return undefined;
      return nodeError(`max fee per gas less than block base fee: maxFeePerGas: 7, baseFee: ${100 + ++sent}`);
    });
    const start = sale.app.logged().length;
    const lines = () =>
      sale.app
        .logged()
        .slice(start)
        .split('\n')
        .filter((line) => line.includes('no node accepted the transaction'));
    const ids: string[] = [];
    for (const buyer of [0, 1]) {
      ids.push((await sale.participate(sale.buyer(buyer), 2n * UNIT)).id);
      await round();
    }
    for (let i = 0; i < 4; i++) await round();
    expect(sent).toBe(2);
    expect(lines()).toEqual([expect.stringContaining('max fee per gas less than block base fee')]);
    expect(lines()[0]).not.toContain('stack');
    worker.timings.resendSeconds = -1;
    await round();
    expect(sent).toBe(4);
    expect(lines()).toHaveLength(1);
    isRejecting = false;
    await settle();
    await settle();
    for (const id of ids) expect(await sale.statusOf(id)).toBe('completed');
  });

  test('keeps its alert between two sends if nodes miss the funds for it', async () => {
    let sent = 0;
    const { worker, round, settle } = rejectingWorker(sale, { resendSeconds: 600 }, (method) => {
      if (method !== 'eth_sendRawTransaction' || worker.timings.resendSeconds < 0) return undefined;
      sent++;
      return nodeError('Insufficient funds for gas * price + value');
    });
    const { id } = await sale.participate(sale.buyer(0), 2n * UNIT);
    for (let i = 0; i < 3; i++) {
      await round();
      expect(await blockedCount(sale, 'operator_out_of_gas')).toBeGreaterThan(0);
    }
    expect(sent).toBe(1);
    worker.timings.resendSeconds = -1;
    await settle();
    await settle();
    expect(await sale.statusOf(id)).toBe('completed');
  });

  test('counts once if it was replaced but the original is mined', async () => {
    let sent = 0;
    const { round, settle } = rejectingWorker(sale, { bumpSeconds: -1 }, (method) => {
      if (method !== 'eth_sendRawTransaction' || ++sent !== 2) return undefined;
      return nodeError('replacement transaction underpriced');
    });
    const { id } = await sale.participate(sale.buyer(1), 2n * UNIT);
    sale.pauseMining();
    await round();
    await round();
    await outbidPending(sale);
    await round();
    const [first, second] = await commitAttempts(sale, id);
    const known = [first, second].map((attempt) => isKnownToNode(sale, attempt?.hash ?? '0x'));
    expect(await Promise.all(known)).toEqual([true, false]);
    await lowerBaseFee(sale);
    await sale.mine(1);
    sale.resumeMining();
    await settle();
    expect(await sale.statusOf(id)).toBe('completed');
    const { mined_hash } = await sale.app.ctx.db
      .selectFrom('operator_transactions')
      .select('mined_hash')
      .where('id', '=', first?.transaction ?? '')
      .executeTakeFirstOrThrow();
    expect(toHex(mined_hash ?? Buffer.alloc(0))).toBe(first?.hash);
  });
});
