import { createHash } from 'node:crypto';
import type { Random } from '../http/ids.ts';

/** 256 bits for a cookie or a link; the database only ever sees its hash. */
export function newSecret(random: Random): string {
  return random(32).toString('base64url');
}

export function isSecret(text: string): boolean {
  return /^[A-Za-z0-9_-]{43}$/.test(text);
}

export function hashSecret(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}
