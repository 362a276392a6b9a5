import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';

// RFC 8410: an Ed25519 private key in PKCS #8 is this prefix followed by the 32-byte seed.
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');
/** RFC 8410: the SPKI encoding of an Ed25519 public key is this prefix followed by the 32 key bytes. */
export const ED25519_SPKI_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');

/** Derives the private key and the 32-byte public key from a 32-byte seed. */
export function ed25519Key(seed: Uint8Array): { privateKey: KeyObject; publicKey: Buffer } {
  const der = Buffer.concat([PKCS8_PREFIX, seed]);
  const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  const spki = createPublicKey(privateKey).export({ format: 'der', type: 'spki' });
  return { privateKey, publicKey: spki.subarray(-32) };
}

/** Returns a 32-byte public key as a key object. */
export function ed25519PublicKey(raw: Uint8Array): KeyObject {
  return createPublicKey({ key: Buffer.concat([ED25519_SPKI_PREFIX, raw]), format: 'der', type: 'spki' });
}
