import type { Context } from '../context.ts';
import type { Db } from '../db/pool.ts';
import { rememberOwner } from './owner-hashes.ts';
import { deleteProofsOf, listAddressesOf } from './proof-store.ts';
import { deleteUserWallets } from './store.ts';

/**
 * Deletes the user's challenges and proofs, and stores keyed hashes of the wallets. Also deletes the bindings if the
 * user has never invested. Otherwise, the bindings stay with the investment records.
 */
export async function eraseUser(ctx: Pick<Context, 'sealing'>, tx: Db, userId: string): Promise<void> {
  for (const address of await listAddressesOf(tx, userId)) await rememberOwner(ctx, tx, userId, address);
  await deleteProofsOf(tx, userId);
  await deleteUserWallets(tx, userId);
}
