const BPS = 10_000n;

/** Splits a buyer's gross amount into the net amount for the venue and the platform fee. */
export function splitGross(gross: bigint, feeBps: number): { net: bigint; fee: bigint } {
  const net = (gross * BPS) / (BPS + BigInt(feeBps));
  return { net, fee: gross - net };
}

/** Returns the lowest rate, in basis points, at which `splitGross` leaves at most `net` of `gross`. */
export function feeBpsOf(gross: bigint, net: bigint): number {
  return Number((gross * BPS) / (net + 1n) + 1n - BPS);
}

/** Returns the gross amount for a net amount, rounded down. */
export function grossUp(net: bigint, feeBps: number): bigint {
  return (net * (BPS + BigInt(feeBps))) / BPS;
}
