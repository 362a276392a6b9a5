import type { FastifyRequest } from 'fastify';
import { ApiError } from '../../kernel/errors.ts';
import type { Context } from '../../platform/context/context.ts';
import type { Db } from '../../platform/db/pool.ts';
import { clientNetwork } from '../../platform/http/network.ts';
import { enforceLimit } from '../../platform/limits/rate-limits.ts';
import { writeNotice } from '../notices/notice.ts';
import { normalizeEmail } from '../users/user.ts';
import { countInWindow, deleteCounts, findKnownSource, rememberSources } from './throttle-store.ts';

/**
 * The maximum number of failed password attempts per hour. The rate limit `sign_in`, which is per minute, would by
 * itself let an attacker keep guessing all day.
 */
const MAX_FAILURES_PER_HOUR = 50;
const MAX_MAILS_PER_DAY = 10;
/**
 * The maximum number of second-factor attempts per hour. A code has 6 digits, and three codes are valid at a time. At
 * 10 guesses per hour, it takes about 4 years on average to guess a valid code.
 */
const MAX_CODES_PER_HOUR = 10;

/** Where a request comes from. `device` is the browser's long-lived cookie, `browser` the browser's name if known. */
export type Source = { device: string; network: string; browser: string | null };

/** Call `succeed` to reset the count. */
type Attempt = { succeed(): Promise<void> };

export async function throttleNetwork(ctx: Context, request: FastifyRequest): Promise<void> {
  await enforceLimit(ctx, 'account_forms', clientNetwork(request));
}

/**
 * Counts a password attempt, whether or not the account exists. Throws `rate_limited` after too many attempts. Each
 * browser or network that is known from an earlier sign-in to the account has its own count, so that strangers cannot
 * lock it out. Call `succeed` after the password is verified, and `rememberSource` after the user is signed in.
 */
export async function throttleAttempt(ctx: Context, email: string, source: Source): Promise<Attempt> {
  const keys = await countingKeys(ctx, 'account', email, source);
  await enforceLimit(ctx, 'sign_in', nameOf(keys));
  return countAttempt(ctx, keys, '1 hour', MAX_FAILURES_PER_HOUR);
}

/**
 * Counts a second-factor attempt. Throws `rate_limited` after too many attempts. Call `succeed` if the code is correct.
 * A correct password does not reset this count. Otherwise, an attacker who knows the password could guess codes
 * forever.
 */
export async function throttleCode(ctx: Context, email: string, source: Source): Promise<Attempt> {
  const keys = await countingKeys(ctx, 'second factor', email, source);
  return countAttempt(ctx, keys, '1 hour', MAX_CODES_PER_HOUR);
}

/** Gives the browser and the network counts of their own. Returns whether the browser is new to the account. */
export async function rememberSource(
  ctx: Context,
  email: string,
  source: Source,
): Promise<{ isNew: boolean; device: string }> {
  const accounts = accountKeys(ctx, 'account', email);
  const sources = sourceHashes(ctx, source);
  const [device = []] = sources;
  const isNew = !(await findKnownSource(ctx.db, accounts, device));
  const newest = ([first = Buffer.alloc(0)]: readonly Buffer[]) => first;
  await rememberSources(ctx.db, newest(accounts), sources.map(newest));
  return { isNew, device: newest(device).toString('hex') };
}

export async function clearFailures(ctx: Context, email: string): Promise<void> {
  await deleteCounts(ctx.db, accountKeys(ctx, 'account', email));
}

/** Limits how many emails an address receives per minute and per day, so that nobody can flood a mailbox through us. */
export async function throttleMail(ctx: Context, email: string, source: Source): Promise<void> {
  const keys = await countingKeys(ctx, 'mail', email, source);
  await enforceLimit(ctx, 'account_mail', nameOf(keys));
  await countAttempt(ctx, keys, '1 day', MAX_MAILS_PER_DAY);
}

async function countAttempt(
  { db }: Context,
  keys: readonly Buffer[],
  window: '1 hour' | '1 day',
  max: number,
): Promise<Attempt> {
  const { count, remainingSeconds } = await countInWindow(db, keys, window);
  if (count > max)
    throw new ApiError('rate_limited', {}, { headers: { 'retry-after': String(remainingSeconds) } });
  return { succeed: () => deleteCounts(db, keys) };
}

function nameOf([newest]: readonly Buffer[]): string {
  return String(newest?.toString('hex'));
}

/**
 * Returns the keys under which the database stores an account's counts and known sources: one hash per configured
 * secret, newest secret first. Nodes that do not have the newest secret yet still use the older keys.
 */
function accountKeys({ sealing }: Context, purpose: string, email: string, source = ''): Buffer[] {
  return sealing.tags(purpose, source === '' ? normalizeEmail(email) : `${normalizeEmail(email)} ${source}`);
}

/** Each known browser or network has its own count. All unknown browsers and networks share one. */
async function countingKeys(ctx: Context, purpose: string, email: string, source: Source): Promise<Buffer[]> {
  const accounts = accountKeys(ctx, 'account', email);
  for (const hashes of sourceHashes(ctx, source)) {
    if (await findKnownSource(ctx.db, accounts, hashes))
      return accountKeys(ctx, purpose, email, String(hashes[0]?.toString('hex')));
  }
  return accountKeys(ctx, purpose, email);
}

function sourceHashes({ sealing }: Context, { device, network }: Source): Buffer[][] {
  return [`device ${device}`, `network ${network}`].map((text) => sealing.tags('sign-in source', text));
}

/** Marks the browser as known, in the same transaction as the sign-in. Notifies the user if the browser is new. */
export async function noteSignIn(
  ctx: Context,
  tx: Db,
  user: { id: string; email: string },
  source: Source,
): Promise<void> {
  const { isNew, device } = await rememberSource({ ...ctx, db: tx }, user.email, source);
  if (isNew) await writeNotice(tx, user.id, 'signed_in', device, { at: ctx.clock.now() });
}
