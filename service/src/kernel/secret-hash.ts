import { hash, timingSafeEqual } from 'node:crypto';
import type { Random } from './ids.ts';

/** Returns 256 random bits for a cookie, a link or a client secret. The database stores only the hash. */
export function newSecret(random: Random): string {
  return random(32).toString('base64url');
}

/**
 * Returns whether the text has the format of a secret from `newSecret`. Callers check this first, so that garbage never
 * reaches the database.
 */
export function isSecret(text: string): boolean {
  return /^[A-Za-z0-9_-]{43}$/.test(text);
}

/** Hashes a secret for storage. A fast hash is enough: every secret has 256 random bits. */
export function hashSecret(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}

export function matchesSecret(secret: string, hashes: readonly Buffer[]): boolean {
  const presented = hashSecret(secret);
  return hashes.some((known) => timingSafeEqual(presented, known));
}
