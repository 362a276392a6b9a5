import { hash, verify } from '@node-rs/argon2';
import type { Context } from '../context.ts';
import { COMMON_PASSWORDS } from './common-passwords.ts';

/** Argon2id with the first set of parameters that OWASP recommends. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;
const CURRENT = `$argon2id$v=19$m=${COST.memoryCost},t=${COST.timeCost},p=${COST.parallelism}$`;

/** A hash of bytes that nobody has: what is checked when there is no account, so that it takes as long. */
const NOBODY = `${CURRENT}c29kaXVtIGNobG9yaWRl$AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8`;

const SHORTEST = 10;
const LONGEST = 128;

export function hashPassword(ctx: Context, password: string): Promise<string> {
  return hash(password.normalize('NFKC'), { ...COST, salt: ctx.random(16) });
}

/** Takes the same time whether there is a hash or not. */
export async function isPassword(
  ctx: Context,
  passwordHash: string | null | undefined,
  password: string,
): Promise<boolean> {
  ctx.metrics.passwordChecks.inc();
  const matches = await verify(passwordHash ?? NOBODY, password.normalize('NFKC'));
  return matches && typeof passwordHash === 'string';
}

/** Whether the hash was made with other parameters than a new one would be. */
export function isOutdated(passwordHash: string): boolean {
  return !passwordHash.startsWith(CURRENT);
}

/** What is wrong with a new password, in words for its owner; null when nothing is. */
export function findPasswordProblem(password: string, email: string): string | null {
  const length = [...password].length;
  if (length < SHORTEST) return `Use at least ${SHORTEST} characters.`;
  if (length > LONGEST) return `Use at most ${LONGEST} characters.`;
  const plain = password.normalize('NFKC').toLowerCase();
  const address = email.toLowerCase();
  if (plain === address || plain === address.split('@', 1)[0])
    return 'Use something other than your e-mail address.';
  if (new Set(plain).size < 4 || COMMON_PASSWORDS.has(plain)) return 'This password is too easy to guess.';
  return null;
}
