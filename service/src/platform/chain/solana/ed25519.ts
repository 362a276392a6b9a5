import { verify } from 'node:crypto';
import { ED25519_SPKI_PREFIX } from '../../../kernel/ed25519-key.ts';

const P = 2n ** 255n - 19n;

/** The y coordinates of the eight small-order points. Points that differ only in the sign of x share an entry. */
const SMALL_ORDER_Y = new Set([
  0n,
  1n,
  P - 1n,
  0x05fc536d880238b13933c6d305acdfd5f098eff289f4c345b027b2c28f95e826n,
  0x7a03ac9277fdc74ec6cc392cfa53202a0f67100d760b3cba4fd84d3d706a17c7n,
]);

/**
 * Returns whether the holder of `publicKey` signed `message`. OpenSSL alone is not strict enough: it accepts keys of
 * small order, for which anyone can forge signatures of many messages. So the key and the signature's point R must also
 * be canonical and not of small order. Runs on the thread pool.
 */
export async function isSignedByEd25519(
  publicKey: Uint8Array,
  message: Uint8Array,
  signature: Uint8Array,
): Promise<boolean> {
  if (publicKey.length !== 32 || signature.length !== 64) return false;
  if (!isStrictPoint(publicKey) || !isStrictPoint(signature.subarray(0, 32))) return false;
  const key = { key: Buffer.concat([ED25519_SPKI_PREFIX, publicKey]), format: 'der', type: 'spki' } as const;
  return new Promise((resolve) => {
    verify(null, message, key, signature, (error, isValid) => resolve(error === null && isValid));
  });
}

function isStrictPoint(encoded: Uint8Array): boolean {
  const bytes = Buffer.from(encoded).reverse();
  bytes[0] = (bytes[0] ?? 0) & 0x7f;
  const y = BigInt(`0x${bytes.toString('hex')}`);
  return y < P && !SMALL_ORDER_Y.has(y);
}
