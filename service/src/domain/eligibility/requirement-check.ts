import { assertKnownType } from '../../kernel/model/known-types.ts';
import type { Level } from '../../kernel/model/levels.ts';
import {
  REQUIREMENT_TYPES,
  type Requirement,
  type RequirementStatus,
  type RequirementType,
  WALLET_KINDS,
} from '../../kernel/model/requirement.ts';
import { requirementStatus } from '../requirements/status.ts';
import type { Check, CheckNext } from './schema.ts';
import type { Situation } from './situation.ts';

type Status = Exclude<RequirementStatus, object>;

export type Finding = {
  check: Check;
  requirement?: Status;
  isOtherWallet?: true;
  /** The remaining supply, if it is capped, in the smallest unit of the offer's first funding asset. */
  remaining?: bigint;
};

export const CONTACT: CheckNext = { type: 'contact', method: null, path: null, body: null };

const LEVELS: Partial<Record<RequirementType, Level>> = {
  identity_verification: 'Sorting_KYC_Level',
  kyc_approved: 'BasicKYCLevel',
  accreditation: 'AccreditationIndividual_FullVerification',
  jurisdiction: 'Sorting_KYC_Level',
};

const NAMES: Partial<Record<RequirementType, string>> = {
  identity_verification: 'identity check',
  kyc_approved: 'identity verification',
  accreditation: 'accreditation',
  document: 'tax form',
};

type Messages = Record<Status | 'update', string>;

/** Built once at startup, because checking all options of an offer uses dozens of messages. */
const MESSAGES = Object.fromEntries(REQUIREMENT_TYPES.map((type) => [type, messagesOf(type)])) as Record<
  RequirementType,
  Messages
>;

function messagesOf(type: RequirementType): Messages {
  if (type === 'jurisdiction')
    return {
      completed: 'Your country of residence is accepted.',
      rejected: 'This option is not available in your country of residence.',
      action_needed: 'Confirm your country of residence.',
      update: 'Confirm your country of residence.',
      not_started: 'Confirm your country of residence.',
      in_progress: 'Your country of residence is being reviewed.',
    };
  if (type === 'acknowledgement') {
    const missing = 'Confirm that you have read the document.';
    return {
      completed: 'You have confirmed that you have read the document.',
      ...{ rejected: missing, in_progress: missing, not_started: missing },
      ...{ action_needed: 'The document has changed. Confirm that you have read it.', update: missing },
    };
  }
  if (WALLET_KINDS.has(type)) {
    const missing = 'Connect a wallet to this option.';
    const completed = 'A wallet is connected.';
    return {
      ...{ completed, rejected: missing, action_needed: missing },
      ...{ update: missing, not_started: missing, in_progress: missing },
    };
  }
  const name = NAMES[type];
  return {
    completed: `Your ${name} is complete.`,
    in_progress: `Your ${name} is in progress.`,
    rejected: `Your ${name} was not accepted.`,
    not_started: `Complete your ${name}.`,
    action_needed: `Renew your ${name}.`,
    update: `Update your data to renew your ${name}.`,
  };
}

/** Throws `unavailable` if this release does not know the type of the requirement. */
export function decideRequirement(requirement: Requirement, situation: Situation): Finding {
  assertKnownType(requirement);
  const { option, user, now, wallet } = situation;
  const computed = requirementStatus(requirement, option, user, now);
  const status = typeof computed === 'string' ? computed : computed.status;
  const isWalletKind = WALLET_KINDS.has(requirement.type);
  if (status === 'completed' && isWalletKind && wallet !== null && !wallet.isBound) {
    const message = 'This wallet is not connected to this option.';
    const check = checkOf(requirement, 'action_needed', message, bindNext(situation));
    return { check, requirement: status, isOtherWallet: true };
  }
  const outcome = isDeclined(requirement, situation, status) ? 'action_needed' : toOutcome(status);
  const messages = MESSAGES[requirement.type];
  const isUpdate = typeof computed !== 'string' && computed.action === 'update_pii_data';
  const message = isUpdate ? messages.update : messages[status];
  const next = nextOf(requirement, situation, outcome, computed);
  return { check: checkOf(requirement, outcome, message, next), requirement: status };
}

function checkOf(
  { type, id }: Requirement,
  status: Check['status'],
  message: string,
  next: CheckNext | null,
): Check {
  return { object: 'check', code: type, requirement_id: id, status, message, until: null, next };
}

function toOutcome(status: Status): Check['status'] {
  if (status === 'completed') return 'passed';
  if (status === 'in_progress') return 'waiting';
  return status === 'rejected' ? 'rejected' : 'action_needed';
}

/** The user has only declined the form, and can start a new one. */
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
  if (requirement.type === 'acknowledgement') {
    const { document, version, sha256 } = requirement.details;
    const path = `/v1/offers/${situation.offer.id}/acknowledgements`;
    return { type: 'acknowledgement', method: 'POST', path, body: { document, version, sha256 } };
  }
  const { kyc_level = LEVELS[requirement.type], kyc_reset = false } =
    typeof computed === 'string' ? {} : computed;
  const body = { level_name: kyc_level, reset: kyc_reset };
  return { type: 'identity', method: 'POST', path: '/v1/kyc-token', body };
}

function bindNext({ offer, option, wallet }: Situation): CheckNext {
  const body = { offer_option_id: option.id, ...walletBody(wallet) };
  return { type: 'bind_wallet', method: 'POST', path: `/v1/offers/${offer.id}/addresses`, body };
}

export function walletBody(wallet: Situation['wallet']) {
  return {
    ...(wallet !== null && { wallet_address: wallet.address }),
    ...(wallet !== null && wallet.chain !== null && { chain: wallet.chain }),
  };
}
