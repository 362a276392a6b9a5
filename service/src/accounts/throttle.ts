import { isIPv6 } from 'node:net';
import type { LimitName } from '../config.ts';
import type { Context } from '../context.ts';
import { ApiError } from '../errors.ts';
import { countSignInFailure, deleteSignInFailures } from './throttle-store.ts';

/** The limit per minute alone would let a patient attacker keep guessing all day. */
const MAX_FAILURES_PER_HOUR = 50;

/** Limits forms and passkey calls per network. */
export async function throttleAddress(ctx: Context, ip: string): Promise<void> {
  await take(ctx, 'account_forms', networkOf(ip));
}

/**
 * Counts a password attempt, whether or not the account exists. Throws `rate_limited` if there were too many.
 * The caller calls `clear` once the password proves right.
 */
export async function throttleAttempt(ctx: Context, email: string): Promise<{ clear(): Promise<void> }> {
  const [account = Buffer.alloc(0), ...older] = accountKeys(ctx, email);
  await take(ctx, 'sign_in', account.toString('hex'));
  const { count, remainingSeconds } = await countSignInFailure(ctx.db, account, older);
  if (count > MAX_FAILURES_PER_HOUR) throw rateLimited(remainingSeconds);
  return { clear: () => clearFailures(ctx, email) };
}

export async function clearFailures(ctx: Context, email: string): Promise<void> {
  await deleteSignInFailures(ctx.db, accountKeys(ctx, email));
}

/** Limits how many mails an address receives, so that nobody can flood a mailbox through us. */
export async function throttleMail(ctx: Context, email: string): Promise<void> {
  await take(ctx, 'account_mail', String(accountKeys(ctx, email)[0]?.toString('hex')));
}

async function take(ctx: Context, limit: LimitName, key: string): Promise<void> {
  const { allowed, resetSeconds } = await ctx.limiter.take(`${limit} ${key}`, ctx.config.limits[limit]);
  if (!allowed) throw rateLimited(resetSeconds);
}

function rateLimited(retryAfterSeconds: number): ApiError {
  return new ApiError('rate_limited', {}, { headers: { 'retry-after': String(retryAfterSeconds) } });
}

/** Returns the key of the account, then those under which nodes with an older secret count. */
function accountKeys({ sealing }: Context, email: string): Buffer[] {
  return sealing.tags('account', email.trim().toLowerCase());
}

/** Returns an IPv6 address's /64, because every customer has at least that, and an IPv4 address unchanged. */
export function networkOf(ip: string): string {
  if (!isIPv6(ip) || ip.includes('.')) return ip;
  const [head = '', tail = ''] = ip.split('::', 2);
  const before = head === '' ? [] : head.split(':');
  const after = tail === '' ? [] : tail.split(':');
  const zeros = Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => '0');
  return [...before, ...(ip.includes('::') ? zeros : []), ...after].slice(0, 4).join(':');
}
