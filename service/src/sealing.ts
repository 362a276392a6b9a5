import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  timingSafeEqual,
} from 'node:crypto';
import type { Random } from './http/ids.ts';

/**
 * The service's own secrets: sealing (AES-256-GCM) and tagging (HMAC-SHA-256) under keys that are derived
 * per purpose from one configured secret. The newest secret writes, every listed one still reads.
 */
export type Sealing = {
  /** What everything that is sealed now begins with. */
  newestKeyId: Buffer;
  seal(purpose: string, plain: Buffer, context: string): Buffer;
  /** Throws when the bytes were not sealed by us for this purpose and context. */
  open(purpose: string, sealed: Buffer, context: string): Buffer;
  tag(purpose: string, data: string): Buffer;
  verifyTag(purpose: string, data: string, tag: Buffer): boolean;
};

const NONCE = 12;
const TAG = 16;
const KEY_ID = 4;

export function createSealing(secrets: readonly Buffer[], random: Random): Sealing {
  const [newest] = secrets;
  if (newest === undefined) throw new Error('at least one secret is needed');
  const keys = new Map<string, Buffer>();

  const derive = (secret: Buffer, purpose: string): Buffer => {
    const name = `${secrets.indexOf(secret)}:${purpose}`;
    const known = keys.get(name);
    if (known !== undefined) return known;
    const key = Buffer.from(hkdfSync('sha256', secret, '', `causeway ${purpose}`, 32));
    keys.set(name, key);
    return key;
  };
  const keyId = (secret: Buffer) => derive(secret, 'key id').subarray(0, KEY_ID);
  // Lists make a tag per page, and half of its time would go into reading the key.
  const tagKeys = new Map<string, KeyObject>();
  const tagKey = (secret: Buffer, purpose: string): KeyObject => {
    const name = `${secrets.indexOf(secret)}:${purpose}`;
    const known = tagKeys.get(name);
    if (known !== undefined) return known;
    const key = createSecretKey(derive(secret, `tag ${purpose}`));
    tagKeys.set(name, key);
    return key;
  };
  const mac = (secret: Buffer, purpose: string, data: string) =>
    createHmac('sha256', tagKey(secret, purpose)).update(data).digest();

  return {
    newestKeyId: Buffer.from(keyId(newest)),
    seal: (purpose, plain, context) => {
      const nonce = random(NONCE);
      const cipher = createCipheriv('aes-256-gcm', derive(newest, `seal ${purpose}`), nonce);
      cipher.setAAD(Buffer.from(context));
      const body = Buffer.concat([cipher.update(plain), cipher.final()]);
      return Buffer.concat([keyId(newest), nonce, cipher.getAuthTag(), body]);
    },
    open: (purpose, sealed, context) => {
      const secret = secrets.find((candidate) => keyId(candidate).equals(sealed.subarray(0, KEY_ID)));
      if (secret === undefined) throw new Error('sealed under an unknown secret');
      const nonce = sealed.subarray(KEY_ID, KEY_ID + NONCE);
      const decipher = createDecipheriv('aes-256-gcm', derive(secret, `seal ${purpose}`), nonce, {
        authTagLength: TAG,
      });
      decipher.setAAD(Buffer.from(context));
      decipher.setAuthTag(sealed.subarray(KEY_ID + NONCE, KEY_ID + NONCE + TAG));
      return Buffer.concat([decipher.update(sealed.subarray(KEY_ID + NONCE + TAG)), decipher.final()]);
    },
    tag: (purpose, data) => mac(newest, purpose, data),
    verifyTag: (purpose, data, tag) =>
      secrets.some((secret) => {
        const expected = mac(secret, purpose, data).subarray(0, tag.length);
        return tag.length >= 16 && expected.length === tag.length && timingSafeEqual(expected, tag);
      }),
  };
}
