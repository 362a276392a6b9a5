import { isInAreas } from '../../kernel/places/areas.ts';
import type { Context } from '../../platform/context/context.ts';
import type { Db } from '../../platform/db/pool.ts';
import { listJurisdictionFilters } from '../offers/jurisdictions.ts';
import { type Move, saveMove } from '../pii/country-change.ts';
import { checkJurisdiction } from './jurisdiction.ts';

/**
 * Records a change of residence. Flags the change and logs a warning if the country policy or an offer rejects the old
 * residence but not the new one.
 */
export async function recordMove(ctx: Context, tx: Db, userId: string, move: Move): Promise<void> {
  const { from, to } = move;
  const { blockedCountries } = ctx.config;
  const isBlocked = (country: string | null, region: string | null) =>
    country !== null && isInAreas(blockedCountries, country, region) === true;
  const filters = await listJurisdictionFilters(tx);
  const isFlagged =
    (isBlocked(from.country, from.region) && !isBlocked(to.country, to.region)) ||
    filters.some(
      (filter) =>
        checkJurisdiction(filter, from.country, from.region) === 'fails' &&
        checkJurisdiction(filter, to.country, to.region) !== 'fails',
    );
  await saveMove(tx, userId, move, isFlagged);
  if (isFlagged) ctx.log.warn({ user_id: userId }, 'user moved from a rejected to an accepted country');
}
