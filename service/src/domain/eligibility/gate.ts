import type { UserCaller } from '../../kernel/access.ts';
import type { ChainName } from '../../kernel/chains.ts';
import { ApiError, type ErrorCode } from '../../kernel/errors.ts';
import type { OfferOption, StoredOffer } from '../../kernel/model/stored-offer.ts';
import type { Context } from '../../platform/context/context.ts';
import type { Offer } from '../../platform/context/ports.ts';
import type { Db } from '../../platform/db/pool.ts';
import { assertStarted, readLockedOffer } from '../offers/offer.ts';
import { readFacts } from '../requirements/facts.ts';
import { assertMayAct } from '../users/account.ts';
import { decide, decideRules } from './decide.ts';
import { CHECKS, type Purpose, refusalOf } from './purpose.ts';
import type { Finding } from './requirement-check.ts';
import { type ReadSituation, readSituations, readSituationsOfAll, type Subject } from './situation.ts';
import { lockStanding } from './store.ts';

export type GateInput = {
  offer: Offer;
  options: readonly OfferOption[];
  wallet: string;
  chain: ChainName;
};

const REFUSALS_OF_LOCKS: ReadonlySet<ErrorCode> = new Set([
  'account_restricted',
  'offer_ended',
  'offer_not_started',
]);

/**
 * Evaluates all checks and returns the results for all options in one list. Use only the results of checks that
 * `CHECKS` lists for the purpose, as `refusalOf` does. The facts for other checks may not have been read, so the
 * results of those checks may be wrong.
 */
export async function decideFor(
  ctx: Context,
  user: Pick<UserCaller, 'userId' | 'partnerId'>,
  purpose: Purpose,
  input: GateInput,
): Promise<Finding[]> {
  return (await readGate(ctx, user, purpose, input)).flatMap(decide);
}

function readGate(
  ctx: Context,
  user: Pick<UserCaller, 'userId' | 'partnerId'>,
  purpose: Purpose,
  { offer, options, wallet, chain }: GateInput,
): Promise<ReadSituation[]> {
  return readSituations(ctx, user, offer, options, { wallet, chain }, CHECKS[purpose]);
}

/** Decides for many users in one round trip to the database. Does not check the supply. Null for an unknown user. */
export async function decideForAll(
  ctx: Context,
  purpose: 'commit',
  subjects: readonly Subject[],
): Promise<(Finding[] | null)[]> {
  const situations = await readSituationsOfAll(ctx, subjects, CHECKS[purpose]);
  return situations.map((each) => each?.flatMap(decide) ?? null);
}

/**
 * Repeats the checks that read no chain: sale window, hold, sanction, requirements and proof. Call it in the transaction
 * that stores the participation, order or permission. Throws if the user has lost eligibility since the first check.
 * Until the transaction ends, locks the offer, the account, the proofs and the facts against changes. Returns the offer
 * as it is stored.
 */
export async function lockEligible(
  ctx: Pick<Context, 'sanctions' | 'clock' | 'config' | 'openPiiFacts' | 'recordRefusal' | 'requestId'>,
  tx: Db,
  { userId, partnerId }: Pick<UserCaller, 'userId' | 'partnerId'>,
  purpose: Purpose,
  { offer, options, wallet }: Pick<GateInput, 'options' | 'wallet'> & { offer: Pick<Offer, 'id'> },
): Promise<StoredOffer> {
  const { isProven, ...account } = await lockStanding(tx, { offerId: offer.id, userId, partnerId, wallet });
  let stored: StoredOffer;
  try {
    stored = await readLockedOffer(tx, offer.id, partnerId, ctx.clock);
    if (CHECKS[purpose].has('offer_window')) assertStarted(stored, ctx.clock);
    assertMayAct(account);
  } catch (error) {
    const isRefusal = error instanceof ApiError && REFUSALS_OF_LOCKS.has(error.code);
    throw isRefusal ? recordRefused(ctx, { userId }, offer.id, error) : error;
  }
  const ids = options.map(({ id }) => id);
  const facts = await readFacts(ctx, tx, userId, ids);
  if (facts === null) throw new ApiError('unauthorized');
  const standing = { facts, isHeld: false, isSanctioned: ctx.sanctions.has(wallet), isProven };
  // The caller's copies of the options may be out of date.
  const current = stored.options.filter(({ id }) => ids.includes(id));
  if (current.length < ids.length) throw new ApiError('not_found');
  const findings = current.flatMap((option) =>
    decideRules(offer.id, option, standing, ctx.config, ctx.clock.now()),
  );
  const refusal = refusalOf(purpose, findings);
  if (refusal !== null) throw recordRefused(ctx, { userId }, offer.id, refusal);
  return stored;
}

/** Throws a refusal with all failed checks. Returns whether `lockEligible` repeats every check of an order. */
export async function assertEligible(
  ctx: Context,
  user: Pick<UserCaller, 'userId' | 'partnerId'>,
  purpose: Purpose,
  input: GateInput,
): Promise<boolean> {
  const situations = await readGate(ctx, user, purpose, input);
  const refusal = refusalOf(purpose, situations.flatMap(decide));
  if (refusal !== null) throw recordRefused(ctx, user, input.offer.id, refusal);
  return situations.every(({ isCoveredByLock }) => isCoveredByLock);
}

export function recordRefused(
  ctx: Pick<Context, 'recordRefusal' | 'requestId'>,
  { userId }: Pick<UserCaller, 'userId'>,
  offerId: string,
  refusal: ApiError,
): ApiError {
  ctx.recordRefusal({
    ...{ actor: { object: 'user', id: userId }, action: 'eligibility.refused', reason: refusal.code },
    ...{ subject: { object: 'offer', id: offerId }, requestId: ctx.requestId },
  });
  return refusal;
}
