import { ApiError } from '../../kernel/errors.ts';
import type { Context } from '../../platform/context/context.ts';
import type { Db } from '../../platform/db/pool.ts';
import { type AccountState, isHeldUser, lockAccountState, lockUser } from './store.ts';

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

export async function assertNotHeld({ db }: Pick<Context, 'db'>, userId: string): Promise<void> {
  if (await isHeldUser(db, userId)) throw accountRestricted();
}

/** Like `assertNotHeld`, but no hold can be placed until the transaction ends. Throws `unauthorized` if erased. */
export async function lockActiveAccount(tx: Db, userId: string): Promise<void> {
  assertMayAct(await lockAccountState(tx, userId, 'no key update'));
}

/** Locks the user. Throws `not_found` for an unknown address or id. */
export async function requireUser(tx: Db, emailOrId: string): Promise<{ id: string; email: string }> {
  const user = await lockUser(tx, emailOrId);
  if (user === undefined) throw new ApiError('not_found', {}, { message: `User ${emailOrId} not found.` });
  return user;
}

/** Like `lockActiveAccount`, but requests from one user do not wait for each other. */
export async function shareAccount(tx: Db, userId: string): Promise<void> {
  assertMayAct(await lockAccountState(tx, userId, 'share'));
}

/** Throws if the user is on hold, or if the account was erased while the request was running. */
export function assertMayAct({ isHeld, isErased }: AccountState): void {
  if (isHeld) throw accountRestricted();
  if (isErased) throw new ApiError('unauthorized');
}

export function accountRestricted(): ApiError {
  return new ApiError('account_restricted', { checks: [HELD] });
}
