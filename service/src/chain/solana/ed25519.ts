import { verify } from 'node:crypto';

/** RFC 8410: an Ed25519 public key in SPKI is this prefix and its 32 bytes. */
const SPKI_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');

const P = 2n ** 255n - 19n;

/** The y of the eight points of small order, one for each pair that differs in the sign of x alone. */
const SMALL_ORDER = new Set([
  0n,
  1n,
  P - 1n,
  0x05fc536d880238b13933c6d305acdfd5f098eff289f4c345b027b2c28f95e826n,
  0x7a03ac9277fdc74ec6cc392cfa53202a0f67100d760b3cba4fd84d3d706a17c7n,
]);

/**
 * Whether the holder of `publicKey` signed `message`: RFC 8032 without its leniency. OpenSSL refuses s out of range and
 * compares R byte for byte, but takes any key that decodes; with a key of small order anybody can make a signature
 * that holds for many messages. So both points must be canonical and of large order. Runs on the thread pool.
 */
export async function isSignedByEd25519(
  publicKey: Uint8Array,
  message: Uint8Array,
  signature: Uint8Array,
): Promise<boolean> {
  if (publicKey.length !== 32 || signature.length !== 64) return false;
  if (!isStrictPoint(publicKey) || !isStrictPoint(signature.subarray(0, 32))) return false;
  const key = { key: Buffer.concat([SPKI_PREFIX, publicKey]), format: 'der', type: 'spki' } as const;
  return new Promise((resolve) => {
    verify(null, message, key, signature, (error, isValid) => resolve(error === null && isValid));
  });
}

function isStrictPoint(encoded: Uint8Array): boolean {
  const bytes = Buffer.from(encoded).reverse();
  bytes[0] = (bytes[0] ?? 0) & 0x7f;
  const y = BigInt(`0x${bytes.toString('hex')}`);
  return y < P && !SMALL_ORDER.has(y);
}
