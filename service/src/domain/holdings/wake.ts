import { notifyAfterCommit } from '../../platform/db/notify.ts';
import type { Db } from '../../platform/db/pool.ts';

/** The NOTIFY channel that settlement workers listen on. The payload is a chain's name, or empty for all chains. */
export const SETTLEMENT_CHANNEL = 'settlement';

export async function wakeSettlement(db: Db, chain: string): Promise<void> {
  await notifyAfterCommit(db, SETTLEMENT_CHANNEL, chain);
}

export async function wakeAllSettlement(db: Db): Promise<void> {
  await notifyAfterCommit(db, SETTLEMENT_CHANNEL);
}
