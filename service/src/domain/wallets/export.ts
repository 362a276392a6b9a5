import type { Db } from '../../platform/db/pool.ts';
import { listWalletsOf } from '../proofs/proof-store.ts';

/** Returns the wallets that the user has proven, each with the name of the partner. */
export function exportUser(db: Db, userId: string) {
  return listWalletsOf(db, userId);
}
