import type { Db } from '../db/pool.ts';
import { notify } from './store.ts';

/** The NOTIFY channel that settlement workers listen on. The payload is the name of a chain. */
export const SETTLEMENT_CHANNEL = 'settlement';

/** Wakes the settlement workers of a chain when the transaction commits. */
export async function wakeSettlement(db: Db, chain: string): Promise<void> {
  await notify(db, SETTLEMENT_CHANNEL, chain);
}

/** Wakes the settlement workers of all chains when the transaction commits. */
export async function wakeAllSettlement(db: Db): Promise<void> {
  await notify(db, SETTLEMENT_CHANNEL, '');
}
