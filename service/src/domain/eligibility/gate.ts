import type { UserCaller } from '../../kernel/access.ts';
import type { ChainName } from '../../kernel/chains.ts';
import { ApiError, type ErrorCode } from '../../kernel/errors.ts';
import type { OfferOption } from '../../kernel/model/stored-offer.ts';
import type { Context } from '../../platform/context/context.ts';
import type { Offer } from '../../platform/context/ports.ts';
import type { Db } from '../../platform/db/pool.ts';
import { listOptions } from '../offers/store.ts';
import { lockProofs } from '../proofs/proof-store.ts';
import { readFacts } from '../requirements/facts.ts';
import { lockApplicants } from '../requirements/store.ts';
import { lockActiveAccount } from '../users/account.ts';
import { decide, decideRules } from './decide.ts';
import { CHECKS, type Purpose, refusalOf } from './purpose.ts';
import type { Finding } from './requirement-check.ts';
import { type ReadSituation, readSituations, readSituationsOfAll, type Subject } from './situation.ts';

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
 * Repeats the checks that read no chain: hold, sanction, requirements and proof. Call it in the transaction that stores
 * the participation, order or permission. Throws if the user has lost eligibility since the first check. Until the
 * transaction ends, locks the account, the proofs and the facts against changes. Runs `first` before taking these
 * locks.
 */
export async function lockEligible(
  ctx: Pick<Context, 'sanctions' | 'clock' | 'config' | 'openPiiFacts' | 'recordRefusal' | 'requestId'>,
  tx: Db,
  { userId, partnerId }: Pick<UserCaller, 'userId' | 'partnerId'>,
  purpose: Purpose,
  { offer, options, wallet }: Pick<GateInput, 'options' | 'wallet'> & { offer: Pick<Offer, 'id'> },
  first?: () => Promise<void>,
): Promise<void> {
  const ids = options.map(({ id }) => id);
  try {
    await first?.();
    await lockActiveAccount(tx, userId);
  } catch (error) {
    const isRefusal = error instanceof ApiError && REFUSALS_OF_LOCKS.has(error.code);
    throw isRefusal ? recordRefused(ctx, { userId }, offer.id, error) : error;
  }
  const proof = { user_id: userId, partner_id: partnerId, wallet_address: wallet };
  const isProven = await lockProofs(tx, [proof]);
  // Blocks new results from the identity provider.
  await lockApplicants(tx, [userId]);
  const facts = await readFacts(ctx, tx, userId, ids);
  // Read again, because the caller's copies of the options may be out of date.
  const current = await listOptions(tx, ids);
  if (facts === null) throw new ApiError('unauthorized');
  const standing = { facts, isHeld: false, isSanctioned: ctx.sanctions.has(wallet), isProven };
  if (current.length < ids.length) throw new ApiError('not_found');
  const findings = current.flatMap((option) =>
    decideRules(offer.id, option, standing, ctx.config, ctx.clock.now()),
  );
  const refusal = refusalOf(purpose, findings);
  if (refusal !== null) throw recordRefused(ctx, { userId }, offer.id, refusal);
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
