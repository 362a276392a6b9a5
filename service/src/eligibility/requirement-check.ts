import type { Level } from '../identity/provider.ts';
import {
  type Requirement,
  type RequirementStatus,
  type RequirementType,
  WALLET_KINDS,
} from '../requirements/schema.ts';
import { requirementStatus } from '../requirements/status.ts';
import type { Check, CheckNext } from './schema.ts';
import type { Situation } from './situation.ts';

type Status = Exclude<RequirementStatus, object>;

/** A check, and the status of its requirement for `errors` of a refusal. */
export type Finding = {
  check: Check;
  requirement?: Status;
  /** Set if the requirement is completed, but by another wallet than the named one. */
  isOtherWallet?: true;
  /** What is left of a capped supply, in the smallest unit of the offer's first funding asset. */
  remaining?: bigint;
};

/** Nothing that the user can call resolves the check. */
export const CONTACT: CheckNext = { type: 'contact', method: null, path: null, body: null };

const LEVELS: Partial<Record<RequirementType, Level>> = {
  identity_verification: 'Sorting_KYC_Level',
  kyc_approved: 'BasicKYCLevel',
  accreditation: 'AccreditationIndividual_FullVerification',
  jurisdiction: 'Sorting_KYC_Level',
};

const NAMES: Record<RequirementType, string> = {
  identity_verification: 'identity check',
  kyc_approved: 'identity verification',
  accreditation: 'accreditation',
  external_wallet: 'wallet',
  whitelisted_wallet: 'wallet',
  document: 'tax form',
  jurisdiction: 'country of residence',
};

export function decideRequirement(requirement: Requirement, situation: Situation): Finding {
  const { option, user, now, wallet } = situation;
  const computed = requirementStatus(requirement, option, user, now);
  const status = typeof computed === 'string' ? computed : computed.status;
  const isWalletKind = WALLET_KINDS.has(requirement.type);
  const base = {
    object: 'check' as const,
    code: requirement.type,
    requirement_id: requirement.id,
    until: null,
  };
  if (status === 'completed' && isWalletKind && wallet !== null && !wallet.isBound) {
    const message = 'This wallet is not connected to this option.';
    const next = bindNext(situation);
    return {
      check: { ...base, status: 'action_needed', message, next },
      requirement: status,
      isOtherWallet: true,
    };
  }
  const outcome = isDeclined(requirement, situation, status) ? 'action_needed' : toOutcome(status);
  return {
    check: {
      ...base,
      status: outcome,
      message: messageOf(requirement.type, status, computed),
      next: nextOf(requirement, situation, outcome, computed),
    },
    requirement: status,
  };
}

function toOutcome(status: Status): Check['status'] {
  if (status === 'completed') return 'passed';
  if (status === 'in_progress') return 'waiting';
  return status === 'rejected' ? 'rejected' : 'action_needed';
}

/** The signer declined the form: unlike other rejections, a new form resolves this. */
function isDeclined(requirement: Requirement, { user }: Situation, status: Status): boolean {
  return (
    requirement.type === 'document' &&
    status === 'rejected' &&
    user.documents[requirement.details.document_type]?.status === 'DECLINED' &&
    user.pii?.isUnitedStates !== true
  );
}

function nextOf(
  requirement: Requirement,
  situation: Situation,
  outcome: Check['status'],
  computed: RequirementStatus,
): CheckNext | null {
  if (outcome === 'rejected') return CONTACT;
  if (outcome !== 'action_needed') return null;
  if (requirement.type === 'document') {
    const path = `/v1/documents/${requirement.details.document_type}/submission`;
    return { type: 'document', method: 'POST', path, body: {} };
  }
  if (WALLET_KINDS.has(requirement.type)) return bindNext(situation);
  const { kyc_level = LEVELS[requirement.type], kyc_reset = false } =
    typeof computed === 'string' ? {} : computed;
  const body = { level_name: kyc_level, reset: kyc_reset };
  return { type: 'identity', method: 'POST', path: '/v1/kyc-token', body };
}

function bindNext({ offer, option, wallet }: Situation): CheckNext {
  const body = {
    offer_option_id: option.id,
    ...(wallet !== null && { wallet_address: wallet.address }),
    ...(wallet !== null && wallet.chain !== null && { chain: wallet.chain }),
  };
  return { type: 'bind_wallet', method: 'POST', path: `/v1/offers/${offer.id}/addresses`, body };
}

function messageOf(type: RequirementType, status: Status, computed: RequirementStatus): string {
  const name = NAMES[type];
  const action = typeof computed === 'string' ? undefined : computed.action;
  if (type === 'jurisdiction')
    return {
      completed: 'Your country of residence is accepted.',
      rejected: 'This option is not available in your country of residence.',
      action_needed: 'Confirm your country of residence.',
      not_started: 'Confirm your country of residence.',
      in_progress: 'Your country of residence is being reviewed.',
    }[status];
  if (WALLET_KINDS.has(type))
    return status === 'completed' ? 'A wallet is connected.' : 'Connect a wallet to this option.';
  switch (status) {
    case 'completed':
      return `Your ${name} is complete.`;
    case 'in_progress':
      return `Your ${name} is in progress.`;
    case 'rejected':
      return `Your ${name} was not accepted.`;
    case 'not_started':
      return `Complete your ${name}.`;
    case 'action_needed':
      return action === 'update_pii_data' ? `Update your data to renew your ${name}.` : `Renew your ${name}.`;
  }
}
