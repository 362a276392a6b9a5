import type { Context } from '../context.ts';
import { ApiError } from '../errors.ts';
import { countRefundable, findOfferId, listRefundable } from './report-store.ts';
import { changeStatus } from './status.ts';
import { wakeAllSettlement } from './wake.ts';

type Parts = Pick<Context, 'db' | 'clock' | 'random'>;

const BATCH_ROWS = 500;

/** Returns an offer's id and how many of its participations can be refunded. Throws `not_found`. */
export async function planRefunds(
  { db }: Pick<Context, 'db'>,
  slug: string,
): Promise<{ offerId: string; count: number }> {
  const offerId = await findOfferId(db, slug);
  if (offerId === null) throw new ApiError('not_found');
  return { offerId, count: await countRefundable(db, offerId) };
}

/**
 * Requests the refund of every completed participation of an offer, and again of every failed refund. Each batch is its own
 * transaction, so that an interrupted run continues where it stopped. Returns how many refunds were requested.
 */
export async function refundOffer(
  ctx: Parts,
  offerId: string,
  onProgress: (done: number) => void,
): Promise<number> {
  let done = 0;
  let after: string | null = null;
  for (;;) {
    const ids: string[] = await listRefundable(ctx.db, offerId, after, BATCH_ROWS);
    if (ids.length === 0) return done;
    after = ids.at(-1) ?? null;
    const from = ['completed', 'remit_failed'] as const;
    done += await ctx.db.transaction().execute(async (tx) => {
      const changed = await changeStatus(ctx, tx, { ids, from, to: 'remit_submitted' });
      await wakeAllSettlement(tx);
      return changed;
    });
    onProgress(done);
  }
}
