import type { Account } from 'oidc-provider';
import { isId } from '../../kernel/ids.ts';
import type { Db } from '../../platform/db/pool.ts';
import { findUser } from '../users/user.ts';

/**
 * Returns the user in oidc-provider's format. Every account has a confirmed email address, so `email_verified` is true.
 */
export async function findAccount(db: Db, id: string): Promise<Account | undefined> {
  if (!isId(id)) return undefined;
  const user = await findUser(db, id);
  if (user === undefined) return undefined;
  return {
    accountId: user.id,
    claims: async () => ({ sub: user.id, email: user.email, email_verified: true }),
  };
}
