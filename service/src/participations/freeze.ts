import type { Db } from '../db/pool.ts';
import { type FrozenRow, freezeByWallet, setFrozen, unfreezeHeldRows, unfreezeRows } from './store.ts';

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

/** Stops sending anything for these participations until an operator decides. Only operators see the reason. */
export function freezeRows(db: Db, ids: readonly string[], reason: 'hold' | 'sanctions'): Promise<void> {
  return setFrozen(db, ids, reason);
}

/** Resumes the participations that were frozen because their user was on hold. */
export function resumeHeld(tx: Db, userId: string): Promise<void> {
  return unfreezeHeldRows(tx, userId);
}
