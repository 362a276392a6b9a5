import { formatAmount } from '../../amounts.ts';

/**
 * Returns the minimum amount that the user receives at this slippage, in smallest units. Rounds up, in favor of the
 * user.
 */
export function minReceived(expected: string, slippageBps: number): bigint {
  return (BigInt(expected) * BigInt(10_000 - slippageBps) + 9_999n) / 10_000n;
}

type Side = { units: bigint; decimals: number };

const PRICE_DECIMALS = 12;

/** Returns the price of one whole token, truncated to 12 decimals. */
export function priceOf(paid: Side, received: Side): string {
  const scale = 10n ** BigInt(received.decimals + PRICE_DECIMALS);
  return formatAmount((paid.units * scale) / (received.units * 10n ** BigInt(paid.decimals)), PRICE_DECIMALS);
}
