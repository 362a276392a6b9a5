/** Compares two addresses of one protocol: EVM addresses case-insensitively, Solana addresses exactly. */
export function isSameAddress(a: string, b: string): boolean {
  return a === b || (a.startsWith('0x') && a.toLowerCase() === b.toLowerCase());
}
