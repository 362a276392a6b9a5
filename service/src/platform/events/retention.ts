import type { Context } from '../context/context.ts';
import { retainedSince } from './retained-since.ts';
import { expireEvents, forgetExpiredEvents } from './store.ts';

/**
 * How long the ids of deleted events are kept. During this time, resuming from a deleted event returns 410. After that,
 * the id counts as unknown.
 */
const EXPIRED_IDS_RETENTION = '1 year';

/** Deletes events older than `EVENTS_RETENTION_DAYS`. */
export async function deleteExpiredEvents(ctx: Pick<Context, 'db' | 'clock' | 'config'>): Promise<void> {
  const before = retainedSince(ctx);
  while (await expireEvents(ctx.db, before));
  await forgetExpiredEvents(ctx.db, EXPIRED_IDS_RETENTION);
}
