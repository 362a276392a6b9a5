import { ApiError } from '../../kernel/errors.ts';
import type { Context } from '../../platform/context/context.ts';
import { countRefundable, findOfferId, listRefundable, type RefundableCounts } from './report-store.ts';
import {
  planRefundRequest,
  type RefundDecision,
  type RefundOperator,
  requestRefunds,
} from './request-refunds.ts';

type Parts = Pick<Context, 'db' | 'clock' | 'random'>;

/**
 * Returns the offer's id, how many of its participations can be refunded, and how many are blocked. Throws `not_found`
 * if no offer has this slug.
 */
export async function planRefunds(
  { db }: Pick<Context, 'db'>,
  slug: string,
): Promise<{ offerId: string } & RefundableCounts> {
  const offerId = await findOfferId(db, slug);
  if (offerId === null) throw new ApiError('not_found');
  return { offerId, ...(await countRefundable(db, offerId)) };
}

/**
 * Requests refunds for all completed participations in an offer, and retries all failed refunds. If a run is
 * interrupted, the next run continues where the interrupted run stopped. Returns how many refunds were requested.
 */
export async function refundOffer(
  ctx: Parts,
  operator: RefundOperator,
  offerId: string,
  onProgress: (done: number) => void,
): Promise<number> {
  return requestRefunds(ctx, operator, await listRefundable(ctx.db, offerId), onProgress);
}

/** Returns what `refundOffer` would decide. Changes nothing. */
export async function planOfferRefund(
  ctx: Parts,
  operator: RefundOperator,
  offerId: string,
): Promise<RefundDecision> {
  return planRefundRequest(ctx, operator, await listRefundable(ctx.db, offerId));
}
