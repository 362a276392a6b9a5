import { hash, timingSafeEqual } from 'node:crypto';
import type { Random } from '../http/ids.ts';

/** What the database keeps of a token, a code or a client secret: 256 random bits need no slow hash. */
export function hashSecret(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}

export function newClientSecret(random: Random): string {
  return `cws_${random(32).toString('base64url')}`;
}

export function matchesSecret(secret: string, hashes: readonly Buffer[]): boolean {
  const given = hashSecret(secret);
  return hashes.some((known) => timingSafeEqual(given, known));
}
