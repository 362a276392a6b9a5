import type { Context } from '../context.ts';
import { toTimestamp } from '../http/wire.ts';
import { expireEvents, forgetExpiredEvents } from './store.ts';
import { extendTrees } from './tree.ts';

const DAY_MS = 86_400_000;
/**
 * How long the ids of deleted events are kept. Until then, resuming from a deleted event returns 410; afterwards its id
 * is unknown.
 */
const EXPIRED_IDS_RETENTION = '1 year';

/** Deletes events older than `EVENTS_RETENTION_DAYS`. */
export async function deleteExpiredEvents({
  db,
  clock,
  config,
}: Pick<Context, 'db' | 'clock' | 'config'>): Promise<void> {
  const before = toTimestamp((Math.floor(clock.now()) - config.eventsRetentionDays * DAY_MS) * 1000);
  await extendTrees({ db });
  while (await expireEvents(db, before));
  await forgetExpiredEvents(db, EXPIRED_IDS_RETENTION);
}
