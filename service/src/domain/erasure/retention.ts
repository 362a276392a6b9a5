import { toTimestamp } from '../../kernel/wire.ts';
import type { Context } from '../../platform/context/context.ts';
import { deleteAccessesBefore } from '../pii/store.ts';

const DAY_MS = 86_400_000;

/** Deletes records of who read or changed personal data, once they are older than `AUDIT_RETENTION_DAYS`. */
export async function deleteOldAccesses({
  db,
  clock,
  config,
}: Pick<Context, 'db' | 'clock' | 'config'>): Promise<void> {
  const before = toTimestamp((Math.floor(clock.now()) - config.retention.auditDays * DAY_MS) * 1000);
  while (await deleteAccessesBefore(db, before));
}
