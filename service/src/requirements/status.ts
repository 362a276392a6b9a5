import type { UserKind } from '../accounts/user.ts';
import type { FormType, SubmissionStatus } from '../documents/provider.ts';
import { formDefect } from '../documents/validity.ts';
import { type Level, type ReviewStatus, UNDER_REVIEW } from '../identity/provider.ts';
import type { PiiFacts } from '../pii/personal-data.ts';
import { checkJurisdiction } from './jurisdiction.ts';
import type { Requirement, RequirementStatus } from './schema.ts';

/** The facts from which requirement statuses are computed. */
export type UserFacts = {
  kind: UserKind;
  /** False if the identity provider has deactivated the applicant. */
  isActive: boolean;
  reviews: Partial<Record<Level, ReviewFacts>>;
  pii: (PiiFacts & { version: number; isStale: boolean }) | null;
  /** The latest form of each type. */
  documents: Partial<Record<string, DocumentFacts>>;
  /** Protocols of the bound wallets, by option. */
  wallets: Partial<Record<string, readonly string[]>>;
};

/** Times are in epoch milliseconds. */
export type ReviewFacts = {
  status: ReviewStatus;
  answer: 'GREEN' | 'RED' | null;
  rejectType: 'RETRY' | 'FINAL' | null;
  reviewedAt: number | null;
};

export type DocumentFacts = {
  status: SubmissionStatus;
  formType: FormType;
  expiresAt: number;
  completedAt: number | null;
  piiVersion: number;
};

type Option = { id: string; accreditation_days: number };

const DAY_MS = 86_400_000;

/** Computes the status of one requirement from the facts and the time. Statuses are never stored. */
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
  }
}

/** An answer from `notBefore` or earlier is too old. */
function identityStatus(
  level: Level,
  { reviews, isActive, pii }: UserFacts,
  notBefore = Number.NEGATIVE_INFINITY,
): RequirementStatus {
  const review = reviews[level];
  if (review === undefined) return 'not_started';
  if (!isActive || review.rejectType === 'FINAL') return 'rejected';
  if (review.status === 'init') return 'not_started';
  if (UNDER_REVIEW.has(review.status)) return 'in_progress';
  if (review.answer !== 'GREEN') return actionNeeded(level, 'kyc_not_verified', false);
  if (pii === null || !pii.isComplete || pii.isStale) return actionNeeded(level, 'update_pii_data', true);
  if ((review.reviewedAt ?? notBefore) <= notBefore) return actionNeeded(level, 'kyc_not_verified', true);
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
  if (form === undefined) return 'not_started';
  switch (form.status) {
    case 'EXPIRED':
      return 'not_started';
    case 'DECLINED':
      return 'rejected';
    case 'COMPLETED':
      return signedStatus(form, facts, now);
    default:
      return form.expiresAt <= now ? 'not_started' : 'in_progress';
  }
}

function signedStatus(form: DocumentFacts, { kind, pii }: UserFacts, now: number): RequirementStatus {
  const { formType, completedAt, piiVersion } = form;
  const circumstances = {
    kind,
    now,
    piiVersion: pii?.version ?? 0,
    isUnitedStates: pii?.isUnitedStates ?? false,
  };
  switch (formDefect({ formType, piiVersion, signedAt: completedAt ?? 0 }, circumstances)) {
    case null:
      return 'completed';
    case 'data_changed':
      return { status: 'action_needed', action: 'update_pii_data' };
    case 'too_old':
      return 'action_needed';
  }
}

function jurisdictionStatus(
  details: Parameters<typeof checkJurisdiction>[0],
  { pii }: UserFacts,
): RequirementStatus {
  switch (checkJurisdiction(details, pii?.country ?? null, pii?.region ?? null)) {
    case 'passes':
      return 'completed';
    case 'fails':
      return 'rejected';
    case 'unknown':
      return actionNeeded('Sorting_KYC_Level', 'kyc_not_verified', false);
  }
}

function isBound({ wallets }: UserFacts, { id }: Option, protocol: string): boolean {
  return (wallets[id] ?? []).includes(protocol);
}
