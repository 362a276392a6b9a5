import type { Context } from '../../platform/context/context.ts';
import type { Db } from '../../platform/db/pool.ts';
import type { TransactionKind } from '../../platform/operator/transaction.ts';
import { lockHeldUsers } from '../users/store.ts';
import { listUsersOf, lockOwnersOf } from './owners-store.ts';

/**
 * Returns whether a transaction may be signed again. A transaction may not be signed again if one of its rows is
 * frozen, if the user of a row is on hold, or if the wallet of a row is sanctioned. Locks the users and the rows, so
 * that no hold or freeze can be added until the database transaction ends.
 */
export async function maySign(
  { sanctions }: Pick<Context, 'sanctions'>,
  tx: Db,
  kind: TransactionKind,
  transactionId: string,
): Promise<boolean> {
  if (kind !== 'commit' && kind !== 'remit') return true;
  // Locks users before rows. All code uses this order, because otherwise two transactions could deadlock.
  const held = await lockHeldUsers(tx, await listUsersOf(tx, kind, transactionId));
  const rows = await lockOwnersOf(tx, kind, transactionId);
  return held.length === 0 && rows.every(({ wallet, isFrozen }) => !isFrozen && !sanctions.has(wallet));
}
