import { createHash } from 'node:crypto';
import { ed25519 } from '@noble/curves/ed25519.js';
import { ASSOCIATED_TOKEN_PROGRAM, TOKEN_PROGRAM } from './programs.ts';

/** Returns the address of an owner's associated token account for a mint that belongs to the token program. */
export function associatedAccount(owner: Uint8Array, mint: Uint8Array): Uint8Array {
  return programAddress([owner, TOKEN_PROGRAM, mint], ASSOCIATED_TOKEN_PROGRAM);
}

/** Returns the address that is derived from `base` and `seed`, for an account that `program` owns. */
export function addressWithSeed(base: Uint8Array, seed: string, program: Uint8Array): Uint8Array {
  return sha256([base, Buffer.from(seed), program]);
}

/**
 * Hashes the seeds with one bump seed after another, from 255 down, and returns the first hash that is not a point on
 * the curve. No private key can exist for such an address.
 */
function programAddress(seeds: Uint8Array[], program: Uint8Array): Uint8Array {
  for (let bump = 255; bump >= 0; bump--) {
    const hash = sha256([...seeds, Uint8Array.of(bump), program, Buffer.from('ProgramDerivedAddress')]);
    if (!isOnCurve(hash)) return hash;
  }
  throw new Error('no bump seed gives an address off the curve');
}

function isOnCurve(bytes: Uint8Array): boolean {
  try {
    ed25519.Point.fromBytes(bytes);
    return true;
  } catch {
    return false;
  }
}

function sha256(parts: Uint8Array[]): Uint8Array {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
}
