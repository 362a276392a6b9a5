import { createHash } from 'node:crypto';
import { ed25519 } from '@noble/curves/ed25519.js';
import { base58 } from '@scure/base';

export const SYSTEM_PROGRAM = '11111111111111111111111111111111';
export const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
export const ASSOCIATED_TOKEN_PROGRAM = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL';
export const COMPUTE_BUDGET_PROGRAM = 'ComputeBudget111111111111111111111111111111';
export const MEMO_PROGRAM = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr';
export const CLOCK_SYSVAR = 'SysvarC1ock11111111111111111111111111111111';

const MAX_SEED_BYTES = 32;
const PROGRAM_ADDRESS_MARKER = Buffer.from('ProgramDerivedAddress');

export function keyOf(address: string): Uint8Array<ArrayBuffer> {
  return base58.decode(address) as Uint8Array<ArrayBuffer>;
}

/** Derived by the system program. Only `base` can create an account at this address. */
export function deriveWithSeed(base: string, seed: string, owner: string): string {
  const bytes = Buffer.from(seed);
  if (bytes.length > MAX_SEED_BYTES)
    throw new Error(`the seed ${seed} has more than ${MAX_SEED_BYTES} bytes`);
  return base58.encode(hash([keyOf(base), bytes, keyOf(owner)]));
}

/** Returns the associated token account of a wallet, as the associated token program derives it. */
export function associatedAccount(wallet: string, mint: string): string {
  return findProgramAddress(
    [keyOf(wallet), keyOf(TOKEN_PROGRAM), keyOf(mint)],
    keyOf(ASSOCIATED_TOKEN_PROGRAM),
  );
}

/** Tries bumps (values of an extra seed byte) from 255 down until no private key can exist for the address. */
function findProgramAddress(seeds: readonly Uint8Array[], program: Uint8Array): string {
  for (let bump = 255; bump >= 0; bump--) {
    const address = hash([...seeds, Uint8Array.of(bump), program, PROGRAM_ADDRESS_MARKER]);
    if (!isOnCurve(address)) return base58.encode(address);
  }
  throw new Error('no bump gives a program address');
}

function isOnCurve(point: Uint8Array): boolean {
  try {
    // Only decompresses the point, as the Solana runtime does. This accepts encodings that RFC 8032 rejects.
    ed25519.Point.fromBytes(point, true);
    return true;
  } catch {
    return false;
  }
}

function hash(parts: readonly Uint8Array[]): Buffer {
  const digest = createHash('sha256');
  for (const part of parts) digest.update(part);
  return digest.digest();
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * The receipt proves that the commit or refund succeeded. Its seed depends on nothing else, so an operator key can
 * create only one of each kind for a participation, even if several nodes or databases use the key.
 */
export function receiptSeed(participationId: string, kind: 'commit' | 'remit'): string {
  if (!UUID.test(participationId)) throw new Error('the participation id is not a UUID');
  const id = Buffer.from(participationId.replaceAll('-', ''), 'hex').toString('base64url');
  return `${id}.${kind === 'commit' ? 'c' : 'r'}`;
}

/** Returns the receipt account that this operator key creates for a participation. */
export function receiptAddress(operator: string, participationId: string, kind: 'commit' | 'remit'): string {
  return deriveWithSeed(operator, receiptSeed(participationId, kind), TOKEN_PROGRAM);
}

export function fundSeed(slug: string): string {
  return `fund.${hash([Buffer.from(slug)])
    .toString('base64url')
    .slice(0, 22)}`;
}
