import type { Db } from '../../platform/db/pool.ts';
import { listByAddresses } from '../proofs/store.ts';

/**
 * A user who has bound or proven a wallet with a partner. `subject_id` is the id of the oldest binding, or the user's
 * id if the wallet is proven but not bound.
 */
export type Holder = { subject_id: string; address: string; user_id: string; partner_id: string };

/** Returns the users who have bound or proven one of these addresses, one entry per user, partner and address. */
export function listHoldersOf(tx: Db, addresses: readonly string[]): Promise<Holder[]> {
  return listByAddresses(tx, addresses);
}
