import type { Context } from '../context.ts';
import { ApiError } from '../errors.ts';
import { toTimestamp } from '../http/wire.ts';
import { setOfferTimeOnce } from './store.ts';

type Parts = Pick<Context, 'db' | 'clock'>;

/** Makes the offer visible to its partners. Returns false if it was already published. */
export function publishOffer(ctx: Parts, slug: string): Promise<boolean> {
  return setOnce(ctx, slug, 'published_at');
}

/** Ends the offer now, before its planned end. Returns false if it was already closed. */
export function closeOffer(ctx: Parts, slug: string): Promise<boolean> {
  return setOnce(ctx, slug, 'closed_at');
}

async function setOnce(
  { db, clock }: Parts,
  slug: string,
  column: 'published_at' | 'closed_at',
): Promise<boolean> {
  const now = toTimestamp(clock.micros());
  const isSet = await db.transaction().execute((tx) => setOfferTimeOnce(tx, slug, column, now));
  if (isSet === null) throw new ApiError('not_found', {}, { message: `Offer ${slug} not found.` });
  return isSet;
}
