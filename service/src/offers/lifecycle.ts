import { setReason } from '../audit/entry.ts';
import type { Context } from '../context.ts';
import { ApiError } from '../errors.ts';
import type { EventSource } from '../events/event.ts';
import { toTimestamp } from '../http/wire.ts';
import { reportOfferStates } from './reported-state.ts';
import { setOfferTimeOnce } from './store.ts';

type Parts = Pick<Context, 'db'> & EventSource;

/** Makes the offer visible to its partners. Returns false if it was already published. */
export function publishOffer(ctx: Parts, slug: string): Promise<boolean> {
  return setOnce(ctx, slug, 'published_at');
}

/** Ends the offer now, before its planned end. Returns false if it was already closed. */
export function closeOffer(ctx: Parts, slug: string, reason: string): Promise<boolean> {
  return setOnce(ctx, slug, 'closed_at', reason);
}

async function setOnce(
  ctx: Parts,
  slug: string,
  column: 'published_at' | 'closed_at',
  reason?: string,
): Promise<boolean> {
  const now = toTimestamp(ctx.clock.micros());
  const isSet = await ctx.db.transaction().execute(async (tx) => {
    if (reason !== undefined) await setReason(tx, reason);
    const isChanged = await setOfferTimeOnce(tx, slug, column, now);
    if (isChanged) await reportOfferStates(ctx, tx, slug);
    return isChanged;
  });
  if (isSet === null) throw new ApiError('not_found', {}, { message: `Offer ${slug} not found.` });
  return isSet;
}
