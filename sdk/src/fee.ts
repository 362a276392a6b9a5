const FULL_BPS = 10_000n;

/** Returns the amount that reaches the venue after the fee is deducted. Rounds down, as the contract does. */
export function netOf(amount: bigint, feeBps: number): bigint {
  return (amount * FULL_BPS) / (FULL_BPS + BigInt(feeBps));
}

/** Returns the lowest fee, in basis points, at which `netOf` leaves at most `net` of `amount`. */
export function feeBpsOf(amount: bigint, net: bigint): number {
  return Number((amount * FULL_BPS) / (net + 1n) + 1n - FULL_BPS);
}
