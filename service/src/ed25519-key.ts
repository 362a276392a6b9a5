import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';

// RFC 8410: an Ed25519 private key in PKCS #8 is this prefix followed by the 32-byte seed.
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');

/** Derives the private key and the 32-byte public key from a 32-byte seed. */
export function ed25519Key(seed: Uint8Array): { privateKey: KeyObject; publicKey: Buffer } {
  const der = Buffer.concat([PKCS8_PREFIX, seed]);
  const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  const spki = createPublicKey(privateKey).export({ format: 'der', type: 'spki' });
  return { privateKey, publicKey: spki.subarray(-32) };
}
