import { recover, signRecoverable } from 'tiny-secp256k1';
import type { Hex } from 'viem';
import { hexToBytes, keccak256 } from 'viem/utils';

/** Half of the order of secp256k1: EIP-2 allows no `s` above it, and neither do contracts that check signatures. */
const HALF_ORDER = Buffer.from('7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0', 'hex');
const PREFIX = '\x19Ethereum Signed Message:\n';

/** EIP-191 version 0x45: what wallets sign for a text. */
export function hashText(text: string): Uint8Array {
  const bytes = Buffer.from(text);
  return keccak256(Buffer.concat([Buffer.from(`${PREFIX}${bytes.length}`), bytes]), 'bytes');
}

/**
 * Whether the key behind `address` (lower case) made this signature of `hash`. Takes r, s and v alone, v as 27 and 28
 * or, from some hardware wallets, 0 and 1; of the two signatures that stand for each other only the one with low s.
 */
export function isSignedByKey(address: string, hash: Uint8Array, signature: Uint8Array): boolean {
  if (signature.length !== 65) return false;
  const v = signature[64] ?? 255;
  const parity = v >= 27 ? v - 27 : v;
  if (parity !== 0 && parity !== 1) return false;
  if (HALF_ORDER.compare(signature, 32, 64) < 0) return false;
  const key = recoverKey(hash, signature.subarray(0, 64), parity);
  return key !== null && addressOf(key) === address;
}

/** The signature of `hash` as contracts take it: r, s, v. */
export function signHash(privateKey: Hex, hash: Hex): Hex {
  const { signature, recoveryId } = signRecoverable(hexToBytes(hash), hexToBytes(privateKey));
  const v = (27 + recoveryId).toString(16);
  return `0x${Buffer.from(signature).toString('hex')}${v}`;
}

function recoverKey(hash: Uint8Array, signature: Uint8Array, parity: 0 | 1): Uint8Array | null {
  try {
    return recover(hash, signature, parity, false);
  } catch {
    // It throws for r or s out of range.
    return null;
  }
}

function addressOf(publicKey: Uint8Array): string {
  return `0x${Buffer.from(keccak256(publicKey.subarray(1), 'bytes')).toString('hex', 12)}`;
}
