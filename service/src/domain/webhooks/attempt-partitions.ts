import { realTime } from '../../kernel/clock.ts';
import type { Context } from '../../platform/context/context.ts';
import { createPartition, dropPartitions } from './attempt-partitions-store.ts';
import { DELIVERY_RETENTION_MS } from './delivery-log.ts';

/**
 * Creates the delivery-attempt partitions for this month and the next, and drops partitions whose retention has ended.
 * Uses real time, because attempts are recorded in real time even if the sandbox clock has moved.
 */
export async function maintainAttemptPartitions(
  { db }: Pick<Context, 'db'>,
  nowMs = realTime(),
): Promise<void> {
  const now = new Date(nowMs);
  const monthStart = (offset: number) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + offset, 1)).toISOString();
  await createPartition(db, monthStart(0), monthStart(1));
  await createPartition(db, monthStart(1), monthStart(2));
  await dropPartitions(db, new Date(nowMs - DELIVERY_RETENTION_MS));
}
