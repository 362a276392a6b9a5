import { CHAIN_FACTS } from '../../kernel/chains.ts';
import { ApiError } from '../../kernel/errors.ts';
import type { Context } from '../../platform/context/context.ts';
import { wakeAllSettlement } from '../holdings/wake.ts';
import { deletePause, findPausableOffer, insertPause } from './pause-store.ts';
import { acceptDifferences } from './reconcile-pass-store.ts';

/** The subject of a pause that applies to every chain. */
const EVERYTHING = '*';

/**
 * Stops sending commits and refunds for a chain or for an offer, or for all chains if `chainOrSlug` is null.
 * Transactions that are already signed are still followed and resent. Returns false if the chain or offer is already
 * paused. Throws `not_found` for an unknown name.
 */
export async function pauseSettlement(
  { db }: Pick<Context, 'db'>,
  chainOrSlug: string | null,
  message: string,
): Promise<boolean> {
  const subject = await findSubject(db, chainOrSlug);
  return insertPause(db, { subject, reason: 'operator', message });
}

/**
 * Ends the pause of a chain, of an offer or of all chains, whatever the reason for the pause. For an offer, also
 * accepts the differences that were found between the chain and the database, so that they do not pause the offer
 * again. Returns false if there is no such pause. Throws `not_found` for an unknown name.
 */
export async function resumeSettlement(
  { db }: Pick<Context, 'db'>,
  chainOrSlug: string | null,
): Promise<boolean> {
  const subject = await findSubject(db, chainOrSlug);
  await acceptDifferences(db, subject);
  const isResumed = await deletePause(db, subject);
  await wakeAllSettlement(db);
  return isResumed;
}

/**
 * Pauses these offers because the chain and the database differ. Nothing is sent for them until an operator
 * resumes them.
 */
export async function pauseOffers(
  { db, log }: Pick<Context, 'db' | 'log'>,
  offerIds: readonly string[],
  message: string,
): Promise<void> {
  for (const subject of offerIds)
    if (await insertPause(db, { subject, reason: 'unreconciled', message }))
      log.error({ offer_id: subject }, `settlement of an offer paused: ${message}`);
}

/**
 * Returns the subject that a pause is stored under: `*`, a chain or an offer's id. Throws `not_found` for an unknown
 * name.
 */
export async function findSubject(db: Context['db'], chainOrSlug: string | null): Promise<string> {
  if (chainOrSlug === null) return EVERYTHING;
  if (chainOrSlug in CHAIN_FACTS) return chainOrSlug;
  const offerId = await findPausableOffer(db, chainOrSlug);
  if (offerId === null) throw new ApiError('not_found');
  return offerId;
}
