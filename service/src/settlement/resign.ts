import { lockHeld } from '../accounts/hold.ts';
import type { Context } from '../context.ts';
import type { Db } from '../db/pool.ts';
import type { TransactionKind } from '../operator/transaction.ts';
import { isSanctioned } from '../wallets/sanctions.ts';
import { listOwnersOf } from './store.ts';

/**
 * Returns whether a transaction may be signed again: not for a frozen row, nor for one under a hold or a sanction.
 * Blocks holds and freezes until the database transaction ends.
 */
export async function maySign(
  { sanctions }: Pick<Context, 'sanctions'>,
  tx: Db,
  kind: TransactionKind,
  transactionId: string,
): Promise<boolean> {
  if (kind !== 'commit' && kind !== 'remit') return true;
  const rows = await listOwnersOf(tx, kind, transactionId);
  const held = await lockHeld(
    tx,
    rows.map(({ userId }) => userId),
  );
  return (
    held.length === 0 &&
    rows.every(({ wallet, isFrozen }) => !isFrozen && !isSanctioned({ sanctions }, wallet))
  );
}
