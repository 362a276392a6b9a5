import type { Db } from '../db/pool.ts';
import { deleteUserWallets } from './store.ts';

/** Deletes the user's challenges and wallets. Wallets of a user who has invested stay with the investment records. */
export async function eraseUser(tx: Db, userId: string): Promise<void> {
  await deleteUserWallets(tx, userId);
}
