import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

/** What a cookie carries can be neither read nor made by the browser, nor moved to another cookie. */
export type Seal = {
  seal(purpose: string, content: unknown, until: number): string;
  /** Undefined for whatever this server has not made, or is too old. */
  open(purpose: string, text: string, now: number): unknown;
};

const VERSION = 'v1.';
const SALT = 16;
const TAG = 16;
const SHORTEST_SECRET = 32;

/** The first secret seals, all of them open: put a new one in front to rotate, and drop the last one after a month. */
export function createSeal(secret: string | readonly string[]): Seal {
  const secrets = typeof secret === 'string' ? [secret] : [...secret];
  const [newest] = secrets;
  if (newest === undefined || secrets.some((one) => one.length < SHORTEST_SECRET))
    throw new TypeError(`cookieSecret must be ${SHORTEST_SECRET} or more random characters`);

  return {
    seal: (purpose, content, until) => {
      const salt = randomBytes(SALT);
      const cipher = createCipheriv('aes-256-gcm', ...keyOf(newest, salt, purpose));
      const sealed = [cipher.update(JSON.stringify({ content, until }), 'utf8'), cipher.final()];
      return VERSION + Buffer.concat([salt, ...sealed, cipher.getAuthTag()]).toString('base64url');
    },
    open: (purpose, text, now) => {
      if (!text.startsWith(VERSION)) return undefined;
      const bytes = Buffer.from(text.slice(VERSION.length), 'base64url');
      for (const one of secrets) {
        const opened = unseal(one, purpose, bytes);
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
  if (bytes.length < SALT + TAG) return undefined;
  try {
    const decipher = createDecipheriv('aes-256-gcm', ...keyOf(secret, bytes.subarray(0, SALT), purpose));
    decipher.setAuthTag(bytes.subarray(-TAG));
    const text = Buffer.concat([decipher.update(bytes.subarray(SALT, -TAG)), decipher.final()]);
    return JSON.parse(text.toString('utf8'));
  } catch {
    return undefined;
  }
}

/** A key and nonce of its own for every cookie: random nonces under one key would run out after 2^32 of them. */
function keyOf(secret: string, salt: Buffer, purpose: string): [Buffer, Buffer] {
  const bytes = Buffer.from(hkdfSync('sha256', secret, salt, `causeway cookie: ${purpose}`, 44));
  return [bytes.subarray(0, 32), bytes.subarray(32)];
}
