import type { Context } from '../context/context.ts';
import { retainedSince } from './retained-since.ts';
import { expireEvents, forgetExpiredEvents } from './store.ts';
import { extendTrees } from './tree.ts';
import { pruneNodes } from './tree-store.ts';

/**
 * How long the ids of deleted events are kept. During this time, resuming from a deleted event returns 410. After that,
 * the id counts as unknown.
 */
const EXPIRED_IDS_RETENTION = '1 year';

/**
 * Deletes events older than `EVENTS_RETENTION_DAYS`. If a partner's Merkle tree is broken, keeps that partner's events,
 * because they could not be proven after their deletion. In that case, still deletes the other partners' events, and
 * then throws.
 */
export async function deleteExpiredEvents(
  ctx: Pick<Context, 'db' | 'log' | 'clock' | 'config'>,
): Promise<void> {
  const { db } = ctx;
  const before = retainedSince(ctx);
  const broken = await extendTrees(ctx);
  while (await expireEvents(db, before, broken));
  await forgetExpiredEvents(db, EXPIRED_IDS_RETENTION);
  while (await pruneNodes(db));
  if (broken.length > 0) throw new Error(`the event trees of partners ${broken.join(', ')} are broken`);
}
