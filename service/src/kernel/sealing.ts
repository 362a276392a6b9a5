import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  timingSafeEqual,
} from 'node:crypto';
import type { Random } from './ids.ts';

/**
 * Encrypts data (AES-256-GCM) and computes tags (HMAC-SHA-256). Each purpose has its own keys, which are derived from
 * the configured secrets. New data is sealed with the newest secret. Data that was sealed with an older configured
 * secret can still be opened.
 */
export type Sealing = {
  /** Identifies the newest secret. Everything sealed with it starts with these bytes. */
  newestKeyId: Buffer;
  /** A fingerprint of each secret, newest first. Fingerprints do not reveal the secrets. */
  fingerprints: Buffer[];
  seal(purpose: string, plain: Buffer, context: string): Buffer;
  /** Decrypts sealed bytes. Throws if they were not sealed for this purpose and context. */
  open(purpose: string, sealed: Buffer, context: string): Buffer;
  tag(purpose: string, data: string): Buffer;
  /**
   * Returns one tag of `data` per configured secret, newest first. Used to find tags that were computed with an older
   * secret.
   */
  tags(purpose: string, data: string): Buffer[];
  /**
   * Returns the keys that `tags` uses, in the order of the tags. Callers store these keys if they must find a tag even
   * after its secret has been removed.
   */
  tagKeys(purpose: string): Buffer[];
  verifyTag(purpose: string, data: string, tag: Buffer): boolean;
};

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY_ID_BYTES = 4;
const FINGERPRINT_BYTES = 8;

export function createSealing(secrets: readonly Buffer[], random: Random): Sealing {
  const [newest] = secrets;
  if (newest === undefined) throw new Error('at least one secret is required');
  const keys = new Map<string, Buffer>();

  const derive = (secret: Buffer, purpose: string): Buffer => {
    const name = `${secrets.indexOf(secret)}:${purpose}`;
    const known = keys.get(name);
    if (known !== undefined) return known;
    const key = Buffer.from(hkdfSync('sha256', secret, '', `causeway ${purpose}`, 32));
    keys.set(name, key);
    return key;
  };
  const keyId = (secret: Buffer) => derive(secret, 'key id').subarray(0, KEY_ID_BYTES);
  // Caches the imported keys: every page of a list needs a tag, and importing the key each time would double the cost
  // of a tag.
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
    fingerprints: secrets.map(fingerprint),
    seal: (purpose, plain, context) => {
      const nonce = random(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', derive(newest, `seal ${purpose}`), nonce);
      cipher.setAAD(Buffer.from(context));
      const body = Buffer.concat([cipher.update(plain), cipher.final()]);
      return Buffer.concat([keyId(newest), nonce, cipher.getAuthTag(), body]);
    },
    open: (purpose, sealed, context) => {
      const secret = secrets.find((each) => keyId(each).equals(sealed.subarray(0, KEY_ID_BYTES)));
      if (secret === undefined)
        throw new Error('the data is sealed with a secret that is not in CAUSEWAY_SECRET');
      const nonce = sealed.subarray(KEY_ID_BYTES, KEY_ID_BYTES + NONCE_BYTES);
      const decipher = createDecipheriv('aes-256-gcm', derive(secret, `seal ${purpose}`), nonce, {
        authTagLength: TAG_BYTES,
      });
      decipher.setAAD(Buffer.from(context));
      const tagStart = KEY_ID_BYTES + NONCE_BYTES;
      decipher.setAuthTag(sealed.subarray(tagStart, tagStart + TAG_BYTES));
      return Buffer.concat([decipher.update(sealed.subarray(tagStart + TAG_BYTES)), decipher.final()]);
    },
    tag: (purpose, data) => mac(newest, purpose, data),
    tags: (purpose, data) => secrets.map((secret) => mac(secret, purpose, data)),
    tagKeys: (purpose) => secrets.map((secret) => derive(secret, `tag ${purpose}`)),
    verifyTag: (purpose, data, tag) =>
      secrets.some((secret) => {
        const expected = mac(secret, purpose, data).subarray(0, tag.length);
        return tag.length >= TAG_BYTES && expected.length === tag.length && timingSafeEqual(expected, tag);
      }),
  };
}

/** Returns a `Sealing` for a command without a usable secret: every method throws `error`. */
export function unavailableSealing(error: Error): Sealing {
  const refuse = () => {
    throw error;
  };
  return {
    newestKeyId: Buffer.alloc(0),
    fingerprints: [],
    seal: refuse,
    open: refuse,
    tag: refuse,
    tags: refuse,
    tagKeys: refuse,
    verifyTag: refuse,
  };
}

function fingerprint(secret: Buffer): Buffer {
  return createHmac('sha256', secret)
    .update('causeway secret fingerprint')
    .digest()
    .subarray(0, FINGERPRINT_BYTES);
}
