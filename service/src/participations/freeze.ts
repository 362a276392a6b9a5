import type { Db } from '../db/pool.ts';
import { type FrozenRow, freezeByWallet, unfreezeRows } from './store.ts';

/**
 * Freezes unfinished participations and refunds of these wallets because of sanctions: nothing is sent for them until an
 * operator decides. Their status does not change. Returns the newly frozen ones.
 */
export function freezeParticipations(tx: Db, wallets: readonly string[]): Promise<FrozenRow[]> {
  return freezeByWallet(tx, wallets, 'sanctions');
}

/** Ends the freeze of participations that sanctions had stopped. */
export function unfreezeParticipations(tx: Db, ids: readonly string[]): Promise<number> {
  return unfreezeRows(tx, ids, 'sanctions');
}
