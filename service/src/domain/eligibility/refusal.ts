import { ApiError, type ErrorCode, type ErrorDetails } from '../../kernel/errors.ts';
import { CHECKS, type Purpose } from './purpose.ts';
import type { Finding } from './requirement-check.ts';
import type { Check, CheckCode } from './schema.ts';

const GENERAL: ReadonlySet<CheckCode> = new Set([
  'account',
  'sanctions',
  'offer_window',
  'wallet_proof',
  'supply',
  'allow_list',
]);

/** Returns the checks for this purpose that have not passed. */
export function failuresOf(purpose: Purpose, findings: readonly Finding[]): Finding[] {
  return findings.filter(({ check }) => CHECKS[purpose].has(check.code) && check.status !== 'passed');
}

/**
 * Returns an error if a check for this purpose has failed, otherwise null. If several checks have failed, the first one
 * in the order below determines the error. `errors.checks` lists all failed checks.
 */
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
