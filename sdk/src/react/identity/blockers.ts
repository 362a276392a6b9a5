import type { Check, Eligibility } from '../../wire.ts';

/**
 * The checks that the checkout itself resolves: by asking for a signature, or by showing the panel that
 * allows the wallet.
 */
const RESOLVED_BY_CHECKOUT: ReadonlySet<Check['code']> = new Set(['wallet_proof', 'allow_list']);

/**
 * Returns the failed checks of an option that the user cannot resolve in the checklist: rejections first,
 * then checks of the account or the country. An offer that opens later does not block, because its
 * requirements can be met now.
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

/** Returns true if the user cannot resolve the blockers. */
export function isFinal(blockers: readonly Check[]): boolean {
  return blockers.some(({ status }) => status === 'rejected');
}
