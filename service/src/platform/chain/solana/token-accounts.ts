import { base58 } from '@scure/base';
import { TOKEN_PROGRAM } from './addresses.ts';

export type AccountInfo = { owner: string; lamports: bigint; data: Buffer };

export type TokenAccount = {
  mint: string;
  owner: string;
  amount: bigint;
  delegate: string | null;
  delegatedAmount: bigint;
  isFrozen: boolean;
};

type Mint = { decimals: number };

/** An M-of-N multisig: `required` is the number of signers that must sign. */
export type Multisig = { required: number; signers: string[] };

export const TOKEN_ACCOUNT_BYTES = 165;
export const MULTISIG_BYTES = 355;
const MINT_BYTES = 82;
const FROZEN = 2;

/** Parses a token account. Returns null unless it is initialized and belongs to the classic token program. */
export function readTokenAccount(account: AccountInfo | null): TokenAccount | null {
  if (account === null || account.owner !== TOKEN_PROGRAM || account.data.length !== TOKEN_ACCOUNT_BYTES)
    return null;
  const { data } = account;
  const state = data[108];
  if (state !== 1 && state !== FROZEN) return null;
  return {
    mint: keyAt(data, 0),
    owner: keyAt(data, 32),
    amount: data.readBigUInt64LE(64),
    delegate: data.readUInt32LE(72) === 1 ? keyAt(data, 76) : null,
    delegatedAmount: data.readBigUInt64LE(121),
    isFrozen: state === FROZEN,
  };
}

/** Parses a mint. Returns null unless it is initialized and belongs to the classic token program. */
export function readMint(account: AccountInfo | null): Mint | null {
  if (account === null || account.owner !== TOKEN_PROGRAM || account.data.length !== MINT_BYTES) return null;
  return account.data[45] === 1 ? { decimals: account.data[44] ?? 0 } : null;
}

/** Parses a multisig account. Returns null unless it is initialized and belongs to the classic token program. */
export function readMultisig(account: AccountInfo | null): Multisig | null {
  if (account === null || account.owner !== TOKEN_PROGRAM || account.data.length !== MULTISIG_BYTES)
    return null;
  const [required = 0, count = 0, isInitialized] = account.data;
  if (isInitialized !== 1) return null;
  return { required, signers: Array.from({ length: count }, (_, i) => keyAt(account.data, 3 + 32 * i)) };
}

function keyAt(data: Buffer, offset: number): string {
  return base58.encode(data.subarray(offset, offset + 32));
}

/** Parses an account in base64 encoding. Returns null if the account does not exist or is malformed. */
export function parseAccount(value: unknown): AccountInfo | null {
  if (value === null || typeof value !== 'object') return null;
  const { owner, lamports, data } = value as { owner?: unknown; lamports?: unknown; data?: unknown };
  if (typeof owner !== 'string' || typeof lamports !== 'number' || !Array.isArray(data)) return null;
  return { owner, lamports: BigInt(lamports), data: Buffer.from(String(data[0]), 'base64') };
}
