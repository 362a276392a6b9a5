/** Compares two addresses on the same protocol. Ignores case for EVM addresses, but not for Solana addresses. */
export function isSameAddress(a: string, b: string): boolean {
  return a === b || (a.startsWith('0x') && a.toLowerCase() === b.toLowerCase());
}
