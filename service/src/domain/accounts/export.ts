import type { Context } from '../../platform/context/context.ts';
import { accountCode } from '../users/account-code.ts';
import { localeOf, type User } from '../users/user.ts';
import { listPasskeys } from './passkey-store.ts';
import { readSecondFactor } from './second-factor.ts';
import { listSessionsOf } from './sessions.ts';

/** Returns the user's account data, without secrets. */
export async function exportUser(ctx: Pick<Context, 'db' | 'sealing'>, user: User) {
  const { isOn } = await readSecondFactor(ctx, user.id);
  const sessions = await listSessionsOf(ctx, user.id);
  const passkeys = await listPasskeys(ctx.db, user.id);
  return {
    id: user.id,
    email: user.email,
    kind: user.kind,
    language: localeOf(user),
    account_code: accountCode(ctx, user.id),
    two_step_sign_in: isOn,
    passkeys: passkeys.map(({ name, inserted_at, last_used_at }) => ({ name, inserted_at, last_used_at })),
    sessions: sessions.map(({ id: _id, ...session }) => session),
  };
}
