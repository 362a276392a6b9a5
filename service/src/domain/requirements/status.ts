import type { UserCaller } from '../../kernel/access.ts';
import { ApiError } from '../../kernel/errors.ts';
import type { Level } from '../../kernel/model/levels.ts';
import type {
  AcknowledgementDetails,
  Requirement,
  RequirementStatus,
  RequirementStatuses,
} from '../../kernel/model/requirement.ts';
import type { OfferOption } from '../../kernel/model/stored-offer.ts';
import type { Context } from '../../platform/context/context.ts';
import { UNDER_REVIEW } from '../../platform/providers/identity.ts';
import { findOffer } from '../offers/offer.ts';
import { type AcknowledgedText, type DocumentFacts, readFacts, type UserFacts } from './facts.ts';
import { checkJurisdiction } from './residence.ts';
import { isValidForm } from './validity.ts';

type Option = { id: string; accreditation_days: number };

const DAY_MS = 86_400_000;

/** Computes the status of one requirement from the facts and the time. The API never returns a stored status. */
export function requirementStatus(
  requirement: Requirement,
  option: Option,
  facts: UserFacts,
  now: number,
): RequirementStatus {
  switch (requirement.type) {
    case 'identity_verification':
      return identityStatus('Sorting_KYC_Level', facts);
    case 'kyc_approved':
      return identityStatus('BasicKYCLevel', facts);
    case 'accreditation': {
      const notBefore = now - option.accreditation_days * DAY_MS;
      return identityStatus('AccreditationIndividual_FullVerification', facts, notBefore);
    }
    case 'external_wallet':
      return isBound(facts, option, requirement.details.protocol) ? 'completed' : 'not_started';
    case 'whitelisted_wallet':
      return (facts.wallets[option.id] ?? []).length > 0 ? 'completed' : 'not_started';
    case 'document':
      return documentStatus(facts.documents[requirement.details.document_type], facts, now);
    case 'jurisdiction':
      return jurisdictionStatus(requirement.details, facts);
    case 'acknowledgement':
      return acknowledgementStatus(requirement.details, facts.acknowledgements[option.id] ?? []);
    default:
      // During an upgrade, the database may contain a type that only the newer release knows.
      return 'action_needed';
  }
}

function isFinallyRejected({ isActive, reviews }: UserFacts): boolean {
  if (!isActive) return true;
  for (const level in reviews) if (reviews[level as Level]?.rejectType === 'FINAL') return true;
  return false;
}

/** An approval given at or before `notBefore` no longer counts. */
function identityStatus(
  level: Level,
  facts: UserFacts,
  notBefore = Number.NEGATIVE_INFINITY,
): RequirementStatus {
  if (isFinallyRejected(facts)) return 'rejected';
  const { reviews, pii } = facts;
  const review = reviews[level];
  if (review === undefined || review.status === 'init')
    return { status: 'not_started', kyc_level: level, kyc_reset: false };
  if (UNDER_REVIEW.has(review.status)) return 'in_progress';
  if (review.answer !== 'GREEN') return actionNeeded(level, 'kyc_not_verified', false);
  if (review.person === '' && facts.isBeingRead) return 'in_progress';
  if (review.person === '' || pii === null || !pii.isComplete || pii.isStale)
    return actionNeeded(level, 'update_pii_data', true);
  const isOtherPerson = review.person !== pii.person;
  const isTooOld = (review.reviewedAt ?? notBefore) <= notBefore;
  if (isOtherPerson || isTooOld) return actionNeeded(level, 'kyc_not_verified', true);
  return 'completed';
}

function actionNeeded(
  kyc_level: Level,
  action: 'kyc_not_verified' | 'update_pii_data',
  kyc_reset: boolean,
): RequirementStatus {
  return { status: 'action_needed', action, kyc_level, kyc_reset };
}

function documentStatus(form: DocumentFacts | undefined, facts: UserFacts, now: number): RequirementStatus {
  if (facts.pii?.isUnitedStates) return 'rejected';
  if (form === undefined) return 'not_started';
  switch (form.status) {
    case 'EXPIRED':
      return 'not_started';
    case 'DECLINED':
      return 'rejected';
    case 'COMPLETED':
      return isFormValid(form, facts, now) ? 'completed' : 'action_needed';
    default:
      return form.expiresAt <= now ? 'not_started' : 'in_progress';
  }
}

function isFormValid(
  { formType, completedAt, piiVersion }: DocumentFacts,
  { kind, pii }: UserFacts,
  now: number,
) {
  const form = { formType, piiVersion, signedAt: completedAt ?? 0 };
  return isValidForm(form, { kind, now, piiVersion: pii?.version ?? 0 });
}

function jurisdictionStatus(
  details: Parameters<typeof checkJurisdiction>[0],
  facts: UserFacts,
): RequirementStatus {
  if (isFinallyRejected(facts)) return 'rejected';
  const { pii } = facts;
  if (pii?.isStale) return actionNeeded('Sorting_KYC_Level', 'update_pii_data', true);
  switch (checkJurisdiction(details, pii?.country ?? null, pii?.region ?? null)) {
    case 'passes':
      return isMoveOpen(details, pii) ? 'in_progress' : 'completed';
    case 'fails':
      return 'rejected';
    case 'unknown':
      return actionNeeded('Sorting_KYC_Level', 'kyc_not_verified', false);
  }
}

/** Returns whether an operator must still approve the user's move from a place that fails this requirement. */
function isMoveOpen(details: Parameters<typeof checkJurisdiction>[0], pii: UserFacts['pii']): boolean {
  return (pii?.formerPlaces ?? []).some(
    ({ country, region }) => checkJurisdiction(details, country, region) === 'fails',
  );
}

/** The user must acknowledge a changed file again, even if its version stays the same. */
function acknowledgementStatus(
  { document, version, sha256 }: AcknowledgementDetails,
  acknowledged: readonly AcknowledgedText[],
): RequirementStatus {
  const texts = acknowledged.filter((text) => text.document === document);
  if (texts.some((text) => text.version === version && text.sha256 === sha256)) return 'completed';
  return texts.length > 0 ? 'action_needed' : 'not_started';
}

function isBound({ wallets }: UserFacts, { id }: Option, protocol: string): boolean {
  return (wallets[id] ?? []).includes(protocol);
}

export async function readStatuses(
  ctx: Context,
  caller: UserCaller,
  idOrSlug: string,
): Promise<RequirementStatuses> {
  const offer = await findOffer(ctx, caller, idOrSlug);
  const statuses = await computeStatuses(ctx, caller, offer.options);
  return { object: 'requirement_statuses', offer_id: offer.id, statuses };
}

async function computeStatuses(
  ctx: Context,
  { userId }: UserCaller,
  options: readonly OfferOption[],
): Promise<Record<string, RequirementStatus>> {
  const facts = await readFacts(
    ctx,
    ctx.db,
    userId,
    options.map(({ id }) => id),
  );
  if (facts === null) throw new ApiError('not_found');
  const now = ctx.clock.now();
  const statuses: Record<string, RequirementStatus> = {};
  for (const option of options)
    for (const requirement of option.requirements)
      statuses[requirement.id] = requirementStatus(requirement, option, facts, now);
  return statuses;
}
