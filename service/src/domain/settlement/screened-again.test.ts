import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { saleWorker, UNIT } from '../../../test/support/sale.ts';
import {
  commitAttempts,
  lowerBaseFee,
  outbidPending,
  useComparedSale,
} from '../../../test/support/settlement.ts';
import { USER } from '../../../test/support/tokens.ts';
import { releaseHold } from '../holdings/freeze.ts';
import { requestRemit } from '../participations/refunds.ts';
import { holdUser } from '../users/hold.ts';

const sale = useComparedSale();

const bumping = () => saleWorker(sale, { timings: { bumpSeconds: -1 }, refundDepth: 1 });
const rowOf = (id: string) =>
  sale.app.ctx.db
    .selectFrom('participations')
    .select(['status', 'reason', 'frozen_reason', 'commit_id', 'remit_id'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
const callsOf = async (id: string) => {
  const attempts = await commitAttempts(sale, id);
  return Promise.all(
    attempts.map(async ({ hash }) => {
      const sent = await sale.chain.direct.getTransaction({ hash }).catch(() => null);
      return sent === null ? 'unknown' : sent.input === '0x' ? 'empty' : 'commit';
    }),
  );
};

/** Sends a commit that stays unmined because its fees are too low for the next blocks. */
async function stuckCommit(worker: ReturnType<typeof bumping>, buyer: number): Promise<string> {
  const { id } = await sale.participate(sale.buyer(buyer), 2n * UNIT);
  sale.pauseMining();
  await worker.round();
  await worker.round();
  await outbidPending(sale);
  return id;
}

async function mineAndSettle(worker: ReturnType<typeof bumping>, blocks: number): Promise<void> {
  await lowerBaseFee(sale);
  sale.resumeMining();
  await sale.mine(blocks);
  await worker.settle();
  await worker.settle();
}

describe('a fee bump', () => {
  test('of a held user is not signed: the nonce is used, and the row waits for the release', async () => {
    const worker = bumping();
    const id = await stuckCommit(worker, 0);
    await holdUser(sale.app.ctx, USER, 'a reason');
    await worker.round();
    expect((await callsOf(id)).filter((call) => call === 'empty').length).toBe(1);
    await mineAndSettle(worker, 70);
    expect(await rowOf(id)).toMatchObject({ status: 'pending', frozen_reason: 'hold', commit_id: null });
    expect((await sale.totalsOf(sale.buyer(0).address)).sum).toBe(0n);
    await releaseHold(sale.app.ctx, USER, 'cleared');
    await worker.settle();
    await worker.settle();
    expect((await rowOf(id)).status).toBe('completed');
  });

  test('of a sanctioned wallet is not signed, and another one is', async () => {
    const worker = bumping();
    const listed = sale.buyer(1).address;
    const { sanctions } = sale.app.ctx;
    const { has } = sanctions;
    const id = await stuckCommit(worker, 1);
    sanctions.has = (each) => each === listed;
    await worker.round();
    await mineAndSettle(worker, 70);
    expect(await rowOf(id)).toMatchObject({ status: 'pending', frozen_reason: 'sanctions', commit_id: null });
    const other = await stuckCommit(worker, 2);
    await worker.round();
    expect((await commitAttempts(sale, other)).length).toBe(2);
    await mineAndSettle(worker, 1);
    sanctions.has = has;
    expect((await rowOf(other)).status).toBe('completed');
    expect((await rowOf(id)).status).toBe('pending');
    await sql`update participations set frozen_reason = null where id = ${id}`.execute(sale.app.ctx.db);
    await worker.settle();
    await worker.settle();
    expect((await rowOf(id)).status).toBe('completed');
  });

  test('of a row that an operator has frozen is not signed', async () => {
    const worker = bumping();
    const id = await stuckCommit(worker, 5);
    await sql`update participations set frozen_reason = 'hold' where id = ${id}`.execute(sale.app.ctx.db);
    await worker.round();
    await mineAndSettle(worker, 70);
    expect(await rowOf(id)).toMatchObject({ status: 'pending', frozen_reason: 'hold', commit_id: null });
    await sql`update participations set frozen_reason = null where id = ${id}`.execute(sale.app.ctx.db);
    await worker.settle();
    await worker.settle();
    expect((await rowOf(id)).status).toBe('completed');
  });

  test('counts once if the original is mined instead of the empty transfer', async () => {
    const worker = bumping();
    const id = await stuckCommit(worker, 3);
    // The hold makes the worker sign an empty transfer to replace the commit. The worker cannot reach the nodes, so
    // they still have the original commit.
    await holdUser(sale.app.ctx, USER, 'a reason');
    const { chain } = worker.worker.account;
    const requestAll: typeof chain.rpc.requestAll = async () => {
      throw new Error('the node is away');
    };
    worker.worker.account.chain = { ...chain, rpc: { ...chain.rpc, requestAll } };
    await worker.round().catch(() => undefined);
    worker.worker.account.chain = chain;
    await mineAndSettle(worker, 2);
    expect((await rowOf(id)).status).toBe('completed');
    await releaseHold(sale.app.ctx, USER, 'cleared');
  });

  test('of a refund to a held user is not signed, and the refund waits', async () => {
    const worker = bumping();
    const { id } = await sale.participate(sale.buyer(4), UNIT);
    await worker.settle();
    await sale.mine(2);
    await worker.settle();
    expect((await rowOf(id)).status).toBe('completed');
    await requestRemit(sale.app.ctx, id);
    sale.pauseMining();
    await worker.round();
    await worker.round();
    expect((await rowOf(id)).remit_id).not.toBeNull();
    await outbidPending(sale);
    await holdUser(sale.app.ctx, USER, 'a reason');
    await worker.round();
    await mineAndSettle(worker, 2);
    expect((await rowOf(id)).status).toBe('remit_submitted');
    expect((await sale.totalsOf(sale.buyer(4).address)).remitted).toBe(0n);
    await releaseHold(sale.app.ctx, USER, 'cleared');
    await sale.mine(70);
    await worker.settle();
    await sale.mine(2);
    await worker.settle();
    expect((await rowOf(id)).status).toBe('remitted');
  });
});

describe('a release', () => {
  test('reserves supply again, or fails the row as sold out', async () => {
    const { ctx } = sale.app;
    const { settle } = saleWorker(sale);
    const { rows } = await sql<{ sum: bigint }>`
      select coalesce(sum(amount), 0)::bigint as sum from participations
      where offer_option_id = ${sale.option} and status not in ('failed', 'prepared', 'remitted')`.execute(
      ctx.db,
    );
    const sold = BigInt(rows[0]?.sum ?? 0n) / UNIT;
    await holdUser(ctx, USER, 'a reason');
    await releaseHold(ctx, USER, 'first');
    const small = await sale.participate(sale.buyer(0), UNIT);
    const large = await sale.participate(sale.buyer(1), 3n * UNIT);
    await holdUser(ctx, USER, 'a reason');
    await settle();
    await sql`update offer_options set price_usd = 1, total_token_supply = ${String(sold + 2n)}
      where id = ${sale.option}`.execute(ctx.db);
    await releaseHold(ctx, USER, 'cleared');
    expect(await rowOf(small.id)).toMatchObject({ status: 'pending', frozen_reason: null });
    expect(await rowOf(large.id)).toMatchObject({ status: 'failed', reason: 'sold_out' });
    await sql`update offer_options set total_token_supply = null where id = ${sale.option}`.execute(ctx.db);
    await settle();
  });

  test('restarts the time limit of the row', async () => {
    const { ctx, clock } = sale.app;
    const { id } = await sale.participate(sale.buyer(2), UNIT);
    await holdUser(ctx, USER, 'a reason');
    await saleWorker(sale).settle();
    clock.advance(25 * 3_600);
    await saleWorker(sale).settle();
    await releaseHold(ctx, USER, 'cleared');
    await saleWorker(sale).settle();
    expect((await rowOf(id)).commit_id).not.toBeNull();
  });
});
