import { ApiError } from '../../kernel/errors.ts';
import type { Context } from '../../platform/context/context.ts';
import type { Db } from '../../platform/db/pool.ts';
import { mapStep, runStep, type Step } from '../../platform/db/together.ts';
import { isHeld, stateLock } from './hold.ts';

/** The failed check for an account on hold, as in eligibility. It never reveals the reason for the hold. */
export const HELD = {
  object: 'check',
  code: 'account',
  requirement_id: null,
  status: 'rejected',
  message: 'Your account is restricted. Contact support.',
  until: null,
  next: { type: 'contact', method: null, path: null, body: null },
} as const;

/** Throws `account_restricted` if the user is on hold. */
export async function assertNotHeld(ctx: Pick<Context, 'statements'>, userId: string): Promise<void> {
  if (await isHeld(ctx, userId)) throw accountRestricted();
}

/**
 * Like `assertNotHeld`, but locks the account, so that no hold can be placed on the user until the transaction ends.
 * Also throws `unauthorized` if the account was erased while the request was running.
 */
export function accountLock(userId: string): Step<void> {
  return mapStep(stateLock(userId, 'no key update'), assertMayAct);
}

/** Like `accountLock`, but requests from one user do not wait for each other. */
export function shareAccount(tx: Db, userId: string): Promise<void> {
  return runStep(tx, sharedAccountLock(userId));
}

export function sharedAccountLock(userId: string): Step<void> {
  return mapStep(stateLock(userId, 'share'), assertMayAct);
}

function assertMayAct({ isHeld, isErased }: { isHeld: boolean; isErased: boolean }): void {
  if (isHeld) throw accountRestricted();
  if (isErased) throw new ApiError('unauthorized');
}

export function accountRestricted(): ApiError {
  return new ApiError('account_restricted', { checks: [HELD] });
}
