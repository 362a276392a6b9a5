import type { Db } from '../../platform/db/pool.ts';
import { listOpenByWallets } from '../holdings/order-store.ts';

/** Returns these wallets' orders whose calldata is live or may still be issued. */
export function listOpenOrdersOf(
  db: Db,
  wallets: readonly string[],
): Promise<{ subject_id: string; address: string; user_id: string; partner_id: string }[]> {
  return listOpenByWallets(db, wallets);
}
