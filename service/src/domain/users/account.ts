import { ApiError } from '../../kernel/errors.ts';
import type { Context } from '../../platform/context/context.ts';
import type { Db } from '../../platform/db/pool.ts';
import { mapStep, runStep, type Step } from '../../platform/db/together.ts';
import { HELD } from '../eligibility/decide.ts';
import { resumeHeld } from '../holdings/freeze.ts';
import { type HeldUser, isHeld, releaseUser, stateLock } from './hold.ts';

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

/** Ends a hold and resumes the participations that the hold had frozen, as far as the remaining supply allows. */
export async function releaseHold(
  ctx: Pick<Context, 'db' | 'clock' | 'random'>,
  emailOrId: string,
  reason: string,
): Promise<HeldUser> {
  return ctx.db.transaction().execute(async (tx) => {
    const user = await releaseUser(ctx, tx, emailOrId, reason);
    if (user.wasHeld) await resumeHeld(ctx, tx, user.id);
    return user;
  });
}

export function accountRestricted(): ApiError {
  return new ApiError('account_restricted', { checks: [HELD] });
}
