import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { signRecoverable } from 'tiny-secp256k1';
import type { Hex } from 'viem';
import { hexToBytes, keccak256 } from 'viem/utils';

/** The order of secp256k1. */
const ORDER = Buffer.from('fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141', 'hex');
/** Half the order of secp256k1. EIP-2, and contracts that verify signatures, reject any `s` above it. */
const HALF_ORDER = Buffer.from('7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0', 'hex');
/**
 * libsecp256k1, called directly for speed. The `recover` function of `tiny-secp256k1` first decompresses the curve
 * point of r, which libsecp256k1 then does again.
 */
const secp256k1 = await loadSecp256k1();
const MESSAGE_PREFIX = '\x19Ethereum Signed Message:\n';

/** Returns the EIP-191 (version 0x45) hash that wallets sign for a text message. */
export function hashText(text: string): Uint8Array {
  const bytes = Buffer.from(text);
  return keccak256(Buffer.concat([Buffer.from(`${MESSAGE_PREFIX}${bytes.length}`), bytes]), 'bytes');
}

/**
 * Returns whether the key of `address` (lower case) signed `hash`. Accepts 65 bytes (r, s and v) or the compact 64
 * bytes of EIP-2098. In the 65-byte form, v is 27 or 28; some hardware wallets use 0 or 1. Rejects signatures with a
 * high s, which are malleable.
 */
export function isSignedByKey(address: string, hash: Uint8Array, signature: Uint8Array): boolean {
  if (signature.length === 64) return isSignedByKey(address, hash, expandCompact(signature));
  if (signature.length !== 65) return false;
  const v = signature[64] ?? 255;
  const parity = v >= 27 ? v - 27 : v;
  if (parity !== 0 && parity !== 1) return false;
  if (HALF_ORDER.compare(signature, 32, 64) < 0) return false;
  // libsecp256k1 would throw for an r that is out of range. Each exception that leaves WebAssembly leaks part of the
  // WebAssembly stack. After a few thousand exceptions, every call would fail.
  if (ORDER.compare(signature, 0, 32) <= 0) return false;
  const key = recoverKey(hash, signature.subarray(0, 64), parity);
  return key !== null && addressOf(key) === address;
}

/**
 * Expands a compact signature (EIP-2098) to 65 bytes. In the compact form, the top bit of s holds the parity. The bit
 * is free, because s is at most half the order.
 */
function expandCompact(signature: Uint8Array): Uint8Array {
  const parity = (signature[32] ?? 0) >> 7;
  const expanded = Uint8Array.from([...signature, 27 + parity]);
  expanded[32] = (expanded[32] ?? 0) & 0x7f;
  return expanded;
}

/** Signs `hash` and returns the 65 bytes r, s, v that contracts expect. */
export function signHash(privateKey: Hex, hash: Hex): Hex {
  // `signRecoverable` refuses a hash with too few bytes, which `Buffer.from` returns if a digit is not hex. viem, which is
  // slower, converts the key, because `Buffer.from` would leave a copy of the key in memory that other buffers share.
  const bytes = Buffer.from(hash.slice(2), 'hex');
  const { signature, recoveryId } = signRecoverable(bytes, hexToBytes(privateKey));
  const v = (27 + recoveryId).toString(16);
  return `0x${Buffer.from(signature).toString('hex')}${v}`;
}

function recoverKey(hash: Uint8Array, signature: Uint8Array, parity: 0 | 1): Uint8Array | null {
  if (hash.length !== 32 || signature.length !== 64) return null;
  secp256k1.hash.set(hash);
  secp256k1.signature.set(signature);
  // `recover` returns 0 if r or s is zero, if no point on the curve has the x coordinate r, or if the key would be the
  // point at infinity.
  return secp256k1.recover(65, parity) === 1 ? secp256k1.publicKey.slice() : null;
}

function addressOf(publicKey: Uint8Array): string {
  return `0x${Buffer.from(keccak256(publicKey.subarray(1), 'bytes')).toString('hex', 12)}`;
}

type Pointer = { value: number };
type Wasm = Record<'HASH_INPUT' | 'SIGNATURE_INPUT' | 'PUBLIC_KEY_INPUT', Pointer> & {
  memory: { buffer: ArrayBuffer };
  recover(outputBytes: 65, recoveryId: 0 | 1): 0 | 1;
};

async function loadSecp256k1() {
  const entry = createRequire(import.meta.url).resolve('tiny-secp256k1');
  const { default: wasm } = (await import(new URL('../wasm_loader.js', pathToFileURL(entry)).href)) as {
    default: Wasm;
  };
  const bytesAt = ({ value }: Pointer, length: number) => new Uint8Array(wasm.memory.buffer, value, length);
  return {
    hash: bytesAt(wasm.HASH_INPUT, 32),
    signature: bytesAt(wasm.SIGNATURE_INPUT, 64),
    publicKey: bytesAt(wasm.PUBLIC_KEY_INPUT, 65),
    recover: wasm.recover,
  };
}
