import { hash, verify } from '@node-rs/argon2';
import { ApiError } from '../../kernel/errors.ts';
import { createFairQueue, type FairQueue } from '../../kernel/fair-queue.ts';
import type { Context } from '../../platform/context/context.ts';
import { COMMON_PASSWORDS } from './common-passwords.ts';

/** OWASP's recommended minimum for Argon2id: 19 MiB of memory, 2 iterations, 1 lane. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;
const CURRENT_PREFIX = `$argon2id$v=19$m=${COST.memoryCost},t=${COST.timeCost},p=${COST.parallelism}$`;

/**
 * A hash that no password matches. Attempts on unknown accounts are checked against it, so that the response takes as
 * long as for a known account.
 */
const DUMMY_HASH = `${CURRENT_PREFIX}c29kaXVtIGNobG9yaWRl$AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8`;

const MIN_LENGTH = 10;
const MAX_LENGTH = 128;

const MAX_CONCURRENT = 2;
const MAX_WAIT_MS = 10_000;

/** Creates the queue in which networks take turns hashing. Every hash occupies a thread and 19 MiB. */
export function createPasswordQueue(): FairQueue {
  return createFairQueue({
    concurrency: MAX_CONCURRENT,
    maxWaitMs: MAX_WAIT_MS,
    timeout: () => new ApiError('unavailable', {}, { headers: { 'retry-after': '2' } }),
  });
}

type Parts = Pick<Context, 'passwordQueue' | 'random'>;

/** `network` is the lane in which the work waits. */
export function hashPassword(
  { passwordQueue, random }: Parts,
  password: string,
  network = '',
): Promise<string> {
  return passwordQueue.run(network, () => hash(password.normalize('NFKC'), { ...COST, salt: random(16) }));
}

/** Returns whether the password matches. Takes just as long if `passwordHash` is missing. */
export async function verifyPassword(
  ctx: Context,
  passwordHash: string | null | undefined,
  password: string,
  network: string,
): Promise<boolean> {
  ctx.metrics.passwordChecks.inc();
  const matches = await ctx.passwordQueue.run(network, () =>
    verify(passwordHash ?? DUMMY_HASH, password.normalize('NFKC')),
  );
  return matches && typeof passwordHash === 'string';
}

export function needsRehash(passwordHash: string): boolean {
  return !passwordHash.startsWith(CURRENT_PREFIX);
}

export function findPasswordProblem(password: string, email: string): string | null {
  const length = [...password].length;
  if (length < MIN_LENGTH) return `Use at least ${MIN_LENGTH} characters.`;
  if (length > MAX_LENGTH) return `Use at most ${MAX_LENGTH} characters.`;
  const normalized = password.normalize('NFKC').toLowerCase();
  const address = email.toLowerCase();
  if (normalized === address || normalized === address.split('@', 1)[0])
    return 'Use a password other than your email address.';
  if (new Set(normalized).size < 4 || COMMON_PASSWORDS.has(normalized))
    return 'This password is too easy to guess.';
  return null;
}
