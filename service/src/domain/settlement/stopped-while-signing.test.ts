import { sql } from 'kysely';
import { afterEach, describe, expect, test } from 'vitest';
import { saleWorker, UNIT } from '../../../test/support/sale.ts';
import { blockedCount, expectDatabaseToMatchFund, useSale } from '../../../test/support/settlement.ts';
import type { Signer } from '../../platform/operator/signer.ts';
import { requestRemit } from '../participations/refunds.ts';
import { lockHeldUsers } from '../users/store.ts';
import { pauseSettlement, resumeSettlement } from './pause.ts';
import { maySign } from './resign.ts';

const sale = useSale();
afterEach(() => expectDatabaseToMatchFund(sale));

/** Creates a worker that runs `meanwhile` after each signature, before anything is stored. */
function signingWorker(meanwhile: () => Promise<unknown>) {
  const operator = sale.app.ctx.signerOf('commit', 'ethereum_sepolia');
  if (operator === null) throw new Error('the app has no operator key');
  const signer: Signer = {
    ...operator,
    signTransaction: async (transaction) => {
      const raw = await operator.signTransaction(transaction);
      await meanwhile();
      return raw;
    },
  };
  return saleWorker(sale, { signer, refundDepth: 1 });
}

const setFrozen = (id: string, reason: string | null) =>
  sql`update participations set frozen_reason = ${reason} where id = ${id}`.execute(sale.app.ctx.db);

const STOPS = [
  {
    name: 'a freeze',
    stop: (id: string) => setFrozen(id, 'sanctions'),
    resume: (id: string) => setFrozen(id, null),
  },
  {
    name: 'a pause of the offer',
    stop: () => pauseSettlement(sale.app.ctx, sale.offer.slug, 'a reason'),
    resume: () => resumeSettlement(sale.app.ctx, sale.offer.slug),
  },
  {
    name: 'a pause of the chain',
    stop: () => pauseSettlement(sale.app.ctx, 'ethereum_sepolia', 'a reason'),
    resume: () => resumeSettlement(sale.app.ctx, 'ethereum_sepolia'),
  },
];

describe.each(STOPS)('$name that arrives while a transaction is signed', ({ stop, resume }) => {
  test('stops the commit, and the round continues without an alert', async () => {
    const { id } = await sale.participate(sale.buyer(0), 2n * UNIT);
    await signingWorker(() => stop(id)).settle();
    expect(await sale.statusOf(id)).toBe('pending');
    expect(await blockedCount(sale, 'unreachable')).toBe(0);
    await resume(id);
    await saleWorker(sale).settle();
    expect(await sale.statusOf(id)).toBe('completed');
  });

  test('stops the refund', async () => {
    const { id } = await sale.participate(sale.buyer(1), 2n * UNIT);
    await saleWorker(sale).settle();
    await sale.mine(2);
    await requestRemit(sale.app.ctx, id);
    await signingWorker(() => stop(id)).settle();
    expect(await sale.statusOf(id)).toBe('remit_submitted');
    expect((await sale.totalsOf(sale.buyer(1).address)).remitted % 2n).toBe(0n);
    const { remit_id } = await sale.app.ctx.db
      .selectFrom('participations')
      .select('remit_id')
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    expect(remit_id).toBeNull();
    await resume(id);
    const { settle } = saleWorker(sale, { refundDepth: 1 });
    await settle();
    await sale.mine(2);
    await settle();
    expect(await sale.statusOf(id)).toBe('remitted');
  });
});

test('a refund whose commit is undone while it is signed is not stored', async () => {
  const { id } = await sale.participate(sale.buyer(1), 2n * UNIT);
  await saleWorker(sale).settle();
  await requestRemit(sale.app.ctx, id);
  const setCommitted = (committed: boolean | null) =>
    sql`update participations set committed = ${committed} where id = ${id}`.execute(sale.app.ctx.db);
  // While this node signs, another node notices a reorganization. That node holds the lease of the key that sent the
  // commit.
  await expect(signingWorker(() => setCommitted(null)).round()).rejects.toThrow('changed concurrently');
  const row = sale.app.ctx.db.selectFrom('participations').select('remit_id').where('id', '=', id);
  expect(await row.executeTakeFirst()).toEqual({ remit_id: null });
  await setCommitted(true);
  await signingWorker(async () => undefined).settle();
  expect(await sale.statusOf(id)).toBe('remitted');
});

test('signing again waits for the locks of a user without a deadlock', async () => {
  const { ctx } = sale.app;
  const { id } = await sale.participate(sale.buyer(0), 2n * UNIT);
  await saleWorker(sale).settle();
  const { commit_id, user_id } = await ctx.db
    .selectFrom('participations')
    .select(['commit_id', 'user_id'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  const waiting = async () =>
    (
      await sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(
        ctx.db,
      )
    ).rows.length;
  let resigned: Promise<boolean> | undefined;
  await ctx.db.transaction().execute(async (tx) => {
    await lockHeldUsers(tx, [user_id]);
    resigned = ctx.db.transaction().execute((other) => maySign(ctx, other, 'commit', String(commit_id)));
    resigned.catch(() => undefined);
    await expect.poll(waiting, { interval: 10 }).toBe(1);
    await sql`update participations set check_at = check_at where id = ${id}`.execute(tx);
  });
  expect(await resigned).toBe(true);
});
