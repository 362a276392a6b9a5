import { CausewayError } from '../error.ts';
import { describeStatus } from '../requirements.ts';
import { isSameAddress } from '../same-address.ts';
import type { OfferDetails, Requirement } from '../wire.ts';
import { FlowFailure } from './flow.ts';
import { ignoreErrors } from './ignore-errors.ts';
import { compareToDecimal } from './money.ts';
import type { WalletSession } from './session.ts';
import { listAllowanceUsers } from './shared-allowance.ts';
import { waitForChange } from './wait-for-change.ts';

/** If the access token lacks the scope for a check, the check is skipped. The service runs all checks again later. */
const MISSING_SCOPE = 'insufficient_scope';

/**
 * Runs the service's checks in advance, so that the user does not pay for an approval only to be rejected by the
 * service.
 */
export async function assertEligible(
  session: WalletSession,
  offer: OfferDetails,
  optionId: string,
  token: { decimals: number },
  amount: bigint,
): Promise<void> {
  const option = offer.options.find(({ id }) => id === optionId);
  if (option === undefined)
    throw new FlowFailure(
      'invalid_input',
      `${offer.name} has no option "${optionId}"; pass an id from offer.options.`,
    );
  const minimum = option.minimum_purchase_usd;
  if (minimum !== null && compareToDecimal(amount, token.decimals, minimum) < 0)
    throw new FlowFailure('invalid_input', `The minimum purchase is ${minimum} USD.`, {
      details: { minimum_purchase_usd: minimum },
    });
  await ignoreErrors(assertRequirements(session, offer.id, optionId), MISSING_SCOPE);
}

async function assertRequirements(session: WalletSession, offerId: string, optionId: string): Promise<void> {
  const { causeway, signal } = session;
  const { options } = await causeway.requirements.list(offerId, { signal });
  const requirements = options[optionId]?.data ?? [];
  if (requirements.length === 0) return;
  const { statuses } = await causeway.requirements.statuses(offerId, { signal });
  const unmet = requirements.flatMap(({ id }) => {
    const { status } = describeStatus(statuses[id]);
    return status === 'completed' ? [] : [[id, [status]]];
  });
  if (unmet.length > 0) throw requirementsNotMet(Object.fromEntries(unmet));
  await ignoreErrors(assertBound(session, offerId, optionId, requirements), MISSING_SCOPE);
}

/**
 * Builds an error with the same shape as the service's `requirements_not_met`, so that callers can handle both alike.
 */
function requirementsNotMet(errors: Record<string, unknown>): FlowFailure {
  const message = "The user has not met all of the option's requirements.";
  const cause = new CausewayError({ code: 'requirements_not_met', status: 0, message, errors });
  return new FlowFailure('requirements_not_met', message, { cause, details: errors });
}

async function assertBound(
  { causeway, address, signal }: WalletSession,
  offerId: string,
  optionId: string,
  requirements: Requirement[],
): Promise<void> {
  if (!requirements.some(({ type }) => type === 'whitelisted_wallet' || type === 'external_wallet')) return;
  for await (const bound of causeway.wallets.list(offerId, { offer_option_id: optionId }, { signal }))
    if (isSameAddress(bound.address, address)) return;
  throw new FlowFailure(
    'wallet_not_bound',
    'The wallet is not bound to the option. Bind it with proveAndBindWallet() first.',
  );
}

/**
 * Waits for the wallet's earlier participations to settle, if they pay with this asset and belong to this offer or to
 * an offer that shares its allowance. Until they settle, they need the allowance, which a new approval would replace.
 * Calls `onWaiting` if it has to wait. Throws `participation_outstanding` if the wait times out.
 */
export async function waitForEarlierParticipations(
  session: WalletSession,
  { offer, assetId }: { offer: OfferDetails; assetId: string },
  onWaiting: () => void,
): Promise<void> {
  const { causeway, address, chain, signal } = session;
  let unsettled: string[] = [];
  let isWaiting = false;
  const isSettled = async () => {
    const users =
      (await ignoreErrors(listAllowanceUsers(causeway, offer, address, signal), MISSING_SCOPE)) ?? [];
    unsettled = users.filter((one) => one.chain === chain && one.asset.id === assetId).map(({ id }) => id);
    if (unsettled.length > 0 && !isWaiting) onWaiting();
    isWaiting = unsettled.length > 0;
    return !isWaiting;
  };
  const change = { events: 'participation', timeoutMs: session.confirmationTimeoutMs };
  if (await waitForChange(session, change, isSettled)) return;
  throw new FlowFailure(
    'participation_outstanding',
    'This wallet has an earlier participation that is not settled yet.',
    { details: { participations: unsettled } },
  );
}
