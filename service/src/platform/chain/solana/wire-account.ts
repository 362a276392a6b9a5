import type { AccountInfo } from './token-accounts.ts';

/** Parses an account in base64 encoding. Returns null if the account does not exist or is malformed. */
export function parseAccount(value: unknown): AccountInfo | null {
  if (value === null || typeof value !== 'object') return null;
  const { owner, lamports, data } = value as { owner?: unknown; lamports?: unknown; data?: unknown };
  if (typeof owner !== 'string' || typeof lamports !== 'number' || !Array.isArray(data)) return null;
  return { owner, lamports: BigInt(lamports), data: Buffer.from(String(data[0]), 'base64') };
}
