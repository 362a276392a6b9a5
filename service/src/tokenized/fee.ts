const BPS = 10_000n;

/** A buyer's gross amount: what reaches the venue, and the platform's cut of it. */
export function splitGross(gross: bigint, feeBps: number): { net: bigint; fee: bigint } {
  const net = (gross * BPS) / (BPS + BigInt(feeBps));
  return { net, fee: gross - net };
}

/** What may be paid before the fee when `net` may reach the venue, rounded down. */
export function grossUp(net: bigint, feeBps: number): bigint {
  return (net * (BPS + BigInt(feeBps))) / BPS;
}
