import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

/** Encrypts and authenticates cookies and stored sessions. A value opens only for the purpose it was sealed for. */
export type Seal = {
  seal(purpose: string, content: unknown, expiresAt: number): string;
  /**
   * Returns the content. Returns undefined if the text is malformed or has expired, or was sealed for another purpose
   * or with a secret that is not configured.
   */
  open(purpose: string, text: string, now: number): unknown;
};

const VERSION = 'v1.';
const SALT_BYTES = 16;
const TAG_BYTES = 16;
const MIN_SECRET_LENGTH = 32;

/**
 * Seals with the first secret and opens with any secret. To rotate secrets, put a new one first, and remove the oldest
 * one a month later. Throws `TypeError` if a secret is too short.
 */
export function createSeal(secret: string | readonly string[]): Seal {
  const secrets = typeof secret === 'string' ? [secret] : [...secret];
  const [newest] = secrets;
  if (newest === undefined || secrets.some(({ length }) => length < MIN_SECRET_LENGTH))
    throw new TypeError(
      `cookieSecret must have at least ${MIN_SECRET_LENGTH} random characters; generate one with: openssl rand -hex 32`,
    );

  return {
    seal: (purpose, content, expiresAt) => {
      const salt = randomBytes(SALT_BYTES);
      const cipher = createCipheriv('aes-256-gcm', ...deriveKey(newest, salt, purpose));
      // The field is named `until`, because existing cookies and stored sessions use that name.
      const sealed = [cipher.update(JSON.stringify({ content, until: expiresAt }), 'utf8'), cipher.final()];
      return VERSION + Buffer.concat([salt, ...sealed, cipher.getAuthTag()]).toString('base64url');
    },
    open: (purpose, text, now) => {
      if (!text.startsWith(VERSION)) return undefined;
      const bytes = Buffer.from(text.slice(VERSION.length), 'base64url');
      for (const candidate of secrets) {
        const opened = unseal(candidate, purpose, bytes);
        if (opened !== undefined) return opened.until > now ? opened.content : undefined;
      }
      return undefined;
    },
  };
}

function unseal(
  secret: string,
  purpose: string,
  bytes: Buffer,
): { content: unknown; until: number } | undefined {
  if (bytes.length < SALT_BYTES + TAG_BYTES) return undefined;
  try {
    const salt = bytes.subarray(0, SALT_BYTES);
    const decipher = createDecipheriv('aes-256-gcm', ...deriveKey(secret, salt, purpose));
    decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
    const text = Buffer.concat([decipher.update(bytes.subarray(SALT_BYTES, -TAG_BYTES)), decipher.final()]);
    return JSON.parse(text.toString('utf8'));
  } catch {
    return undefined;
  }
}

/** Derives a key and a nonce for each value. A single key with random nonces would be safe for only 2^32 values. */
function deriveKey(secret: string, salt: Buffer, purpose: string): [Buffer, Buffer] {
  const bytes = Buffer.from(hkdfSync('sha256', secret, salt, `causeway cookie: ${purpose}`, 44));
  return [bytes.subarray(0, 32), bytes.subarray(32)];
}
