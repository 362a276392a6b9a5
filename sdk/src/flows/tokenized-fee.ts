import { feeBpsOf, netOf } from '../fee.ts';
import type { OfferDetails, TokenizedSwapTransaction } from '../wire.ts';
import { FlowFailure } from './flow.ts';
import type { Session } from './session.ts';

type FeeLimit = { offer: OfferDetails; maxFeeBps?: number | undefined };

/** Throws `invalid_input` if the maximum fee is not a number of basis points. */
export function assertFeeLimit({ maxFeeBps = 0 }: FeeLimit): void {
  if (Number.isInteger(maxFeeBps) && maxFeeBps >= 0 && maxFeeBps <= 10_000) return;
  throw new FlowFailure('invalid_input', 'maxFeeBps must be an integer from 0 to 10000.', {
    details: { maxFeeBps },
  });
}

/** Returns the maximum fee in basis points: `maxFeeBps`, or else the offer's fee. */
export async function readMaxFeeBps(
  { causeway, signal }: Session,
  { offer, maxFeeBps }: FeeLimit,
): Promise<number> {
  if (maxFeeBps !== undefined) return maxFeeBps;
  const shown =
    offer.summary === undefined ? await causeway.offers.get(offer.id, { include: 'summary', signal }) : offer;
  return shown.summary?.fee_bps ?? 0;
}

/** Throws `fee_changed` if the order leaves less for the purchase than the maximum fee does. */
export function assertFee(
  { notional_value }: TokenizedSwapTransaction,
  amount: bigint,
  maxFeeBps: number,
): void {
  const net = BigInt(notional_value);
  if (net >= netOf(amount, maxFeeBps)) return;
  throw new FlowFailure('fee_changed', 'The fee is higher than the offer shows, so nothing was sent.', {
    details: { expected_bps: maxFeeBps, actual_bps: feeBpsOf(amount, net) },
  });
}
