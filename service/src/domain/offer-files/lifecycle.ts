import { ApiError } from '../../kernel/errors.ts';
import type { StoredOffer } from '../../kernel/model/stored-offer.ts';
import { toTimestamp } from '../../kernel/wire.ts';
import { setReason } from '../../platform/audit/store.ts';
import type { Context } from '../../platform/context/context.ts';
import type { EventSource } from '../../platform/events/event.ts';
import { reportOfferStates } from '../offers/reported-state.ts';
import { clearClosedTime, readOfferBySlug, setOfferTimeOnce } from '../offers/store.ts';
import { findSymbolConflicts, OfferRefusedError } from './apply.ts';
import { lockOffers } from './definition-store.ts';

type Parts = Pick<Context, 'db'> & EventSource;

export function publishOffer(ctx: Parts, slug: string): Promise<boolean> {
  return setOnce(ctx, slug, 'published_at');
}

/** Ends the offer now, before its planned end. Returns false if it was already closed. */
export function closeOffer(ctx: Parts, slug: string, reason: string): Promise<boolean> {
  return setOnce(ctx, slug, 'closed_at', reason);
}

/** Undoes `closeOffer`: the offer's own window applies again. Throws if another offer has taken over its symbol. */
export async function reopenOffer(ctx: Parts, slug: string, reason: string): Promise<StoredOffer> {
  return ctx.db.transaction().execute(async (tx) => {
    // Waits for changes of other offers, which may take over the symbol.
    await lockOffers(tx);
    await setReason(tx, reason);
    const isReopened = await clearClosedTime(tx, slug, toTimestamp(ctx.clock.micros()));
    const offer = await readOfferBySlug(tx, slug);
    if (offer === null) throw notFound(slug);
    if (!isReopened)
      throw new ApiError(
        'validation_failed',
        {},
        {
          message: `offer ${slug} is not closed${offer.ends_at === null ? '' : `: it ends at ${offer.ends_at}`}`,
        },
      );
    const conflicts = await findSymbolConflicts(ctx, tx, offer);
    if (conflicts.length > 0) throw new OfferRefusedError(conflicts);
    await reportOfferStates(ctx, tx, slug);
    return offer;
  });
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
  if (isSet === null) throw notFound(slug);
  return isSet;
}

function notFound(slug: string): ApiError {
  return new ApiError('not_found', {}, { message: `Offer ${slug} not found.` });
}
