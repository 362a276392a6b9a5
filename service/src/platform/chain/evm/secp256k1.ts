import { recover, signRecoverable } from 'tiny-secp256k1';
import type { Hex } from 'viem';
import { hexToBytes, keccak256 } from 'viem/utils';

/** Half the order of secp256k1. EIP-2, and contracts that verify signatures, reject any `s` above it. */
const HALF_ORDER = Buffer.from('7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0', 'hex');

/**
 * Accepts 65 bytes (v is 27 or 28; some hardware wallets use 0 or 1) or the compact 64 bytes of EIP-2098. Rejects
 * signatures with a high s, which are malleable.
 */
export function isSignedByKey(address: string, hash: Uint8Array, signature: Uint8Array): boolean {
  if (signature.length === 64) return isSignedByKey(address, hash, expandCompact(signature));
  if (signature.length !== 65) return false;
  const v = signature[64] ?? 255;
  const parity = v >= 27 ? v - 27 : v;
  if (parity !== 0 && parity !== 1) return false;
  if (HALF_ORDER.compare(signature, 32, 64) < 0) return false;
  return recoverAddress(hash, signature.subarray(0, 64), parity) === address;
}

/**
 * In the compact form (EIP-2098), the top bit of s holds the parity. It is free, because s is at most half the order.
 */
function expandCompact(signature: Uint8Array): Uint8Array {
  const parity = (signature[32] ?? 0) >> 7;
  const expanded = Uint8Array.from([...signature, 27 + parity]);
  expanded[32] = (expanded[32] ?? 0) & 0x7f;
  return expanded;
}

/** Signs `hash` and returns the 65 bytes r, s, v that contracts expect. */
export function signHash(privateKey: Hex, hash: Hex): Hex {
  // `signRecoverable` refuses a hash with too few bytes, which `Buffer.from` returns if a digit is not hex. viem
  // converts the key, because `Buffer.from` would leave a copy of it in memory that other buffers share.
  const bytes = Buffer.from(hash.slice(2), 'hex');
  const { signature, recoveryId } = signRecoverable(bytes, hexToBytes(privateKey));
  const v = (27 + recoveryId).toString(16);
  return `0x${Buffer.from(signature).toString('hex')}${v}`;
}

function recoverAddress(hash: Uint8Array, signature: Uint8Array, parity: 0 | 1): string | null {
  try {
    const key = recover(hash, signature, parity);
    return key && `0x${Buffer.from(keccak256(key.subarray(1), 'bytes')).toString('hex', 12)}`;
  } catch {
    // Thrown if r or s is zero or out of range, or if no point on the curve has the x coordinate r.
    return null;
  }
}
