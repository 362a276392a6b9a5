import type { Db } from '../../platform/db/pool.ts';
import { revokeUserGrants } from './grant-store.ts';
import { deleteTokensOf } from './token-store.ts';

/** Disconnects every app from the user. */
export async function eraseUser(tx: Db, userId: string): Promise<void> {
  await revokeUserGrants(tx, userId);
  await deleteTokensOf(tx, userId);
}
