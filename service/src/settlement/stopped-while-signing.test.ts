import { sql } from 'kysely';
import { afterEach, describe, expect, test } from 'vitest';
import { saleWorker, UNIT } from '../../test/support/sale.ts';
import { blockedCount, expectDatabaseToMatchFund, useSale } from '../../test/support/settlement.ts';
import type { Signer } from '../operator/signer.ts';
import { requestRemit } from '../participations/remit.ts';
import { pauseSettlement, resumeSettlement } from './pause.ts';

const sale = useSale();
afterEach(() => expectDatabaseToMatchFund(sale));

/** Creates a worker whose key runs `meanwhile` after each signature, before anything is stored. */
function signingWorker(meanwhile: () => Promise<unknown>) {
  const { operator } = sale.app.ctx;
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
