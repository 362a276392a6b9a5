import { isIPv6 } from 'node:net';
import type { LimitName } from '../config.ts';
import type { Context } from '../context.ts';
import { ApiError } from '../errors.ts';
import { countSignInFailure, deleteSignInFailures } from './throttle-store.ts';

/** Wrong passwords an hour: a minute's budget alone would let a patient guesser go on all day. */
const FAILURES_PER_HOUR = 50;

/** Every form and passkey call takes from the budget of the network it comes from. */
export async function takeFromAddress(ctx: Context, ip: string): Promise<void> {
  await take(ctx, 'account_forms', networkOf(ip));
}

/** Counts an attempt at an account, existing or not; `forgive` when it turned out to be its owner. */
export async function takeAttempt(ctx: Context, email: string): Promise<{ forgive(): Promise<void> }> {
  const account = accountKey(ctx, email);
  await take(ctx, 'sign_in', account.toString('hex'));
  const { count, remainingSeconds } = await countSignInFailure(ctx.db, account);
  if (count > FAILURES_PER_HOUR) throw tooMany(remainingSeconds);
  return { forgive: () => forgiveFailures(ctx, email) };
}

export async function forgiveFailures(ctx: Context, email: string): Promise<void> {
  await deleteSignInFailures(ctx.db, accountKey(ctx, email));
}

/** Nobody's mailbox is filled through us. */
export async function takeMail(ctx: Context, email: string): Promise<void> {
  await take(ctx, 'account_mail', accountKey(ctx, email).toString('hex'));
}

async function take(ctx: Context, limit: LimitName, key: string): Promise<void> {
  const { allowed, resetSeconds } = await ctx.limiter.take(`${limit} ${key}`, ctx.config.limits[limit]);
  if (!allowed) throw tooMany(resetSeconds);
}

function tooMany(seconds: number): ApiError {
  return new ApiError('rate_limited', {}, { headers: { 'retry-after': String(seconds) } });
}

function accountKey({ sealing }: Context, email: string): Buffer {
  return sealing.tag('account', email.trim().toLowerCase());
}

/** One IPv6 customer has at least a /64. */
export function networkOf(ip: string): string {
  if (!isIPv6(ip) || ip.includes('.')) return ip;
  const [head = '', tail = ''] = ip.split('::', 2);
  const before = head === '' ? [] : head.split(':');
  const after = tail === '' ? [] : tail.split(':');
  const zeros = Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => '0');
  return [...before, ...(ip.includes('::') ? zeros : []), ...after].slice(0, 4).join(':');
}
