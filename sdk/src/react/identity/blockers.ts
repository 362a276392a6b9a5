import type { Check, Eligibility } from '../../wire.ts';

/**
 * The checks that the checkout itself resolves. For `wallet_proof`, the checkout asks for a signature. For
 * `allow_list`, it shows the `AllowWalletPanel`.
 */
const RESOLVED_BY_CHECKOUT: ReadonlySet<Check['code']> = new Set(['wallet_proof', 'allow_list']);

/**
 * Returns an option's failed checks that the user cannot resolve in the checklist. Rejections come first, then checks
 * that belong to no requirement, such as the check of the user's country. An offer that has not opened yet is not a
 * blocker here, because users can meet the requirements before it opens.
 */
export function blockersOf(eligibility: Eligibility | undefined, optionId: string): Check[] {
  const option = eligibility?.options.find(({ offer_option_id }) => offer_option_id === optionId);
  const checks = option?.checks.filter(isBlocking) ?? [];
  const rank = ({ status }: Check) => (status === 'rejected' ? 0 : 1);
  return checks.toSorted((a, b) => rank(a) - rank(b));
}

function isBlocking({ code, status, requirement_id }: Check): boolean {
  if (status === 'passed' || RESOLVED_BY_CHECKOUT.has(code)) return false;
  if (status === 'rejected') return true;
  return requirement_id === null && code !== 'offer_window';
}

/** Returns true if one of the blockers is a rejection, which the user cannot resolve. */
export function isFinal(blockers: readonly Check[]): boolean {
  return blockers.some(({ status }) => status === 'rejected');
}
