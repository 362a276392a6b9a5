import type { ChainName } from '../../kernel/chains.ts';
import { isKnownType } from '../../kernel/model/known-types.ts';
import type { OfferOption } from '../../kernel/model/stored-offer.ts';
import type { Context } from '../../platform/context/context.ts';
import type { Db } from '../../platform/db/pool.ts';
import { findOfferById } from '../offers/offer.ts';
import { listOptions } from '../offers/store.ts';
import { lockProofs } from '../proofs/proof-store.ts';
import { readFactsOfAllIn, type UserFacts } from '../requirements/facts.ts';
import { lockApplicants } from '../requirements/store.ts';
import { lockHeldUsers } from '../users/store.ts';
import { decideRules } from './decide.ts';
import { decideForAll } from './gate.ts';
import { failuresOf, refusalOf } from './purpose.ts';
import type { Finding } from './requirement-check.ts';
import type { Subject } from './situation.ts';

/** What the decision on a participation's commit or refund depends on. `user` is the address of the user's wallet. */
export type CommitRow = {
  id: string;
  userId: string;
  partnerId: string;
  offerId: string;
  optionId: string;
  chain: string;
  user: string;
};

/** `wait`: nothing can be decided yet, because of a review, a silent chain or an unpublished offer. Try again later. */
export type CommitDecision =
  | { to: 'send' }
  | { to: 'wait' }
  | { to: 'freeze'; reason: 'hold' | 'sanctions' }
  | { to: 'fail'; reason: string };

/**
 * Decides, right before participations are committed, what happens to them. A hold or a sanction freezes a
 * participation. A participation fails if the user no longer meets a requirement or no longer has a valid wallet proof.
 * Whether the offer has ended does not matter, because the participation was accepted in time.
 */
export async function decideCommits(ctx: Context, rows: readonly CommitRow[]): Promise<CommitDecision[]> {
  const subjects = await Promise.all(rows.map((row) => findSubject(ctx, row)));
  const findings = await decideForAll(
    ctx,
    'commit',
    subjects.filter((subject) => subject !== null),
  );
  return subjects.map((subject) => toDecision(subject === null ? null : (findings.shift() ?? null)));
}

/** Null if the offer is not published, the option is gone, or this release does not know a requirement's type. */
async function findSubject(ctx: Context, row: CommitRow): Promise<Subject | null> {
  const { userId, partnerId, chain, user: wallet } = row;
  const offer = await findOfferById(ctx, partnerId, row.offerId);
  const options =
    offer?.options.filter(({ id, requirements }) => id === row.optionId && requirements.every(isKnownType)) ??
    [];
  if (offer === undefined || options.length === 0) return null;
  return { user: { userId, partnerId }, offer, options, target: { wallet, chain: chain as ChainName } };
}

function toDecision(findings: Finding[] | null): CommitDecision {
  if (findings === null) return { to: 'wait' };
  const frozen = freezeReason(findings.map(({ check }) => check));
  if (frozen !== null) return { to: 'freeze', reason: frozen };
  const failures = failuresOf('commit', findings);
  if (failures.length === 0) return { to: 'send' };
  const lost = failures.filter(({ check }) => check.status !== 'waiting');
  if (lost.length === 0) return { to: 'wait' };
  const refusal = refusalOf('commit', lost);
  const isUnproven = refusal?.code === 'wallet_not_proven';
  return {
    to: 'fail',
    reason: isUnproven ? refusal.code : `requirements_not_met: ${lost[0]?.check.code}`,
  };
}

function freezeReason(checks: readonly { code: string; status: string }[]): 'hold' | 'sanctions' | null {
  const failed = (code: string) => checks.some((check) => check.code === code && check.status !== 'passed');
  if (failed('account')) return 'hold';
  return failed('sanctions') ? 'sanctions' : null;
}

/** Decides which refunds may be sent, just before they are signed. Only a hold or a sanction stops a refund. */
export async function decideRefunds(ctx: Context, rows: readonly CommitRow[]): Promise<CommitDecision[]> {
  const held = new Set(
    await ctx.db.transaction().execute((tx) =>
      lockHeldUsers(
        tx,
        rows.map(({ userId }) => userId),
      ),
    ),
  );
  return rows.map(({ userId, user }) => {
    if (held.has(userId)) return { to: 'freeze', reason: 'hold' };
    return ctx.sanctions.has(user) ? { to: 'freeze', reason: 'sanctions' } : { to: 'send' };
  });
}

/** A participation became ineligible while its transaction was being signed. The transaction has not been stored. */
export class EligibilityChanged extends Error {
  constructor() {
    super('the eligibility of a participation changed while its transaction was being signed');
    this.name = 'EligibilityChanged';
  }
}

/**
 * Checks again whether these participations may be committed. Call it in `tx`, the database transaction that stores the
 * signed on-chain transaction. Throws `EligibilityChanged` if one of the participations may not. Until `tx` ends, its
 * locks block new holds, updates from the identity provider, and other users' proofs of the same wallets.
 */
export async function lockCommits(ctx: Context, tx: Db, rows: readonly CommitRow[]): Promise<void> {
  await lockRefunds(ctx, tx, rows);
  const keys = rows.map(({ userId, partnerId, user }) => ({
    user_id: userId,
    partner_id: partnerId,
    wallet_address: user,
  }));
  const userIds = rows.map(({ userId }) => userId);
  const optionIds = [...new Set(rows.map(({ optionId }) => optionId))];
  if (!(await lockProofs(tx, keys))) throw new EligibilityChanged();
  await lockApplicants(tx, userIds);
  const options = new Map((await listOptions(tx, optionIds)).map((option) => [option.id, option]));
  const facts = await readFactsOfAllIn(ctx, tx, userIds, optionIds);
  for (const { userId, offerId, optionId } of rows)
    if (!meetsRules(ctx, facts.get(userId), offerId, options.get(optionId))) throw new EligibilityChanged();
}

/** Like `lockCommits`, but for refunds. Only a hold or a sanction stops a refund. */
export async function lockRefunds(
  { sanctions }: Pick<Context, 'sanctions'>,
  tx: Db,
  rows: readonly CommitRow[],
): Promise<void> {
  const held = await lockHeldUsers(
    tx,
    rows.map(({ userId }) => userId),
  );
  if (held.length > 0 || rows.some(({ user }) => sanctions.has(user))) throw new EligibilityChanged();
}

function meetsRules(
  ctx: Context,
  facts: UserFacts | undefined,
  offerId: string,
  option: OfferOption | undefined,
): boolean {
  if (facts === undefined || option === undefined) return false;
  const standing = { facts, isHeld: false, isSanctioned: false, isProven: true };
  const findings = decideRules(offerId, option, standing, ctx.config, ctx.clock.now());
  return failuresOf('commit', findings).length === 0;
}
