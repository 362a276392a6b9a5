import type { Context } from '../../platform/context/context.ts';
import type { Db } from '../../platform/db/pool.ts';
import { rememberOwner } from '../proofs/owner-hashes.ts';
import { deleteProofsOf, listAddressesOf } from '../proofs/proof-store.ts';
import { deleteUserWallets } from '../proofs/store.ts';
import { hasVerifications } from './verification-store.ts';

/**
 * Deletes the user's challenges and proofs, and stores keyed hashes of the wallets. Also deletes the bindings if the
 * user has never invested. Otherwise, the bindings stay with the investment records. `kept` describes the allow-list
 * records, which stay because wallets on an allow-list could invest on chain without us.
 */
export async function eraseUser(
  ctx: Pick<Context, 'sealing'>,
  tx: Db,
  userId: string,
): Promise<{ kept: string[] }> {
  for (const address of await listAddressesOf(tx, userId)) await rememberOwner(ctx, tx, userId, address);
  await deleteProofsOf(tx, userId);
  await deleteUserWallets(tx, userId);
  return { kept: (await hasVerifications(tx, userId)) ? ['allow-lists: wallets, offers and dates'] : [] };
}
