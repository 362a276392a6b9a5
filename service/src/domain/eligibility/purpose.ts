import { ApiError, type ErrorCode, type ErrorDetails } from '../../kernel/errors.ts';
import { WALLET_KINDS } from '../../kernel/model/requirement.ts';
import type { Finding } from './requirement-check.ts';
import type { Check, CheckCode } from './schema.ts';

/**
 * The action for which eligibility is checked. Adding a wallet to an allow-list involves three purposes in turn:
 * - `allow_wallet`: before the wallet proof is verified.
 * - `admit`: after the proof is verified, before the permission is issued.
 * - `permission`: later, to check whether the user may keep the permission.
 */
export type Purpose = 'bind' | 'allow_wallet' | 'admit' | 'permission' | 'participate' | 'commit' | 'order';

const ACCOUNT: readonly CheckCode[] = ['account', 'sanctions'];
const RULES: readonly CheckCode[] = [
  'country_policy',
  'identity_verification',
  'kyc_approved',
  'accreditation',
  'document',
  'jurisdiction',
];
const WALLET_REQUIREMENTS = [...WALLET_KINDS] as CheckCode[];

const INVEST: readonly CheckCode[] = [
  ...ACCOUNT,
  ...RULES,
  'acknowledgement',
  ...WALLET_REQUIREMENTS,
  'offer_window',
  'wallet_proof',
  'allow_list',
];

/**
 * The checks for each purpose. `commit` and `permission` leave out `acknowledgement`: a new version of a document must
 * not affect participations that are already accepted or wallets that are already allowed. The user has to acknowledge
 * the new version only before taking another action.
 */
export const CHECKS: Readonly<Record<Purpose, ReadonlySet<CheckCode>>> = {
  bind: new Set(ACCOUNT),
  allow_wallet: new Set([...ACCOUNT, ...RULES, 'acknowledgement']),
  admit: new Set([...ACCOUNT, ...RULES, 'acknowledgement', 'wallet_proof']),
  permission: new Set([...ACCOUNT, ...RULES, 'wallet_proof']),
  participate: new Set([...INVEST, 'supply']),
  commit: new Set([...ACCOUNT, ...RULES, ...WALLET_REQUIREMENTS, 'wallet_proof']),
  order: new Set(INVEST),
};

const GENERAL: ReadonlySet<CheckCode> = new Set([
  'account',
  'sanctions',
  'offer_window',
  'wallet_proof',
  'supply',
  'allow_list',
]);

export function failuresOf(purpose: Purpose, findings: readonly Finding[]): Finding[] {
  return findings.filter(({ check }) => CHECKS[purpose].has(check.code) && check.status !== 'passed');
}

/** The first failed check in the order below determines the error. `errors.checks` lists all failed checks. */
export function refusalOf(purpose: Purpose, findings: readonly Finding[]): ApiError | null {
  const failures = failuresOf(purpose, findings);
  if (failures.length === 0) return null;
  const checks = failures.map(({ check }) => check);
  const refuse = (code: ErrorCode, details: ErrorDetails = {}) => new ApiError(code, { ...details, checks });
  const find = (code: CheckCode) => checks.find((check) => check.code === code);

  if (find('account')) return refuse('account_restricted');
  const window = find('offer_window');
  if (window) return refuse(window.status === 'waiting' ? 'offer_not_started' : 'offer_ended');
  if (find('sanctions')) return refuse('wallet_sanctioned');
  const unmet = failures.filter(({ check, isOtherWallet }) => !GENERAL.has(check.code) && !isOtherWallet);
  if (unmet.length > 0) return refuse('requirements_not_met', statusesOf(unmet));
  const proof = find('wallet_proof');
  if (proof) return refuse(proof.status === 'waiting' ? 'upstream_unavailable' : 'wallet_not_proven');
  if (failures.some(({ isOtherWallet }) => isOtherWallet))
    return refuse('validation_failed', { wallet_address: ['is not bound to this option'] });
  if (find('supply')) return refuse('sold_out', { remaining: '0' });
  return refuseAllowList(refuse, find('allow_list'));
}

function statusesOf(unmet: readonly Finding[]): ErrorDetails {
  return Object.fromEntries(
    unmet.flatMap(({ check, requirement }) =>
      check.requirement_id === null || requirement === undefined
        ? []
        : [[check.requirement_id, [requirement]]],
    ),
  );
}

function refuseAllowList(
  refuse: (code: ErrorCode, details?: ErrorDetails) => ApiError,
  check: Check | undefined,
): ApiError {
  if (check?.next?.type === 'contact') return refuse('allow_list_external');
  if (check?.status === 'waiting') return refuse('upstream_unavailable');
  return refuse('requirements_not_met', { wallet_address: ['the wallet is not on the allow-list'] });
}
