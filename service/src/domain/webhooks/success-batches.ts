import type { Insertable } from 'kysely';
import type { Context } from '../../platform/context/context.ts';
import type { Database } from '../../platform/db/tables.ts';
import { type ClaimedDelivery, insertAttempts, markDelivered } from './delivery-store.ts';
import { noteSuccess } from './health.ts';
import { recordHealthySuccesses } from './health-store.ts';

export type Success = { delivery: ClaimedDelivery; attempt: Insertable<Database['webhook_attempts']> };

const MAX_BATCH_SIZE = 256;

/**
 * Returns a function that records a successful attempt. Attempts are recorded in batches, because transactions are most
 * of the cost of a delivery. The attempts that end while one batch is being written form the next batch. One statement
 * records all of a batch's attempts to healthy endpoints. If a batch fails, its attempts are recorded one by one.
 */
export function createSuccessBatches(ctx: Context): (success: Success) => Promise<void> {
  type Waiting = { success: Success; resolve(): void; reject(error: unknown): void };
  const waiting: Waiting[] = [];
  let isWriting = false;

  const settle = async (batch: readonly Waiting[]): Promise<void> => {
    try {
      await recordSuccesses(
        ctx,
        batch.map(({ success }) => success),
      );
      for (const { resolve } of batch) resolve();
    } catch (error) {
      const [first, ...others] = batch;
      if (others.length === 0) return first?.reject(error);
      for (const each of batch) await settle([each]);
    }
  };
  const write = async (): Promise<void> => {
    isWriting = true;
    while (waiting.length > 0) await settle(waiting.splice(0, MAX_BATCH_SIZE));
    isWriting = false;
  };
  return (success) =>
    new Promise((resolve, reject) => {
      waiting.push({ success, resolve, reject });
      if (!isWriting) void write();
    });
}

async function recordSuccesses(ctx: Context, successes: readonly Success[]): Promise<void> {
  const recorded = await recordHealthySuccesses(
    ctx.db,
    [...new Set(successes.map(({ delivery }) => delivery.endpoint_id))],
    successes.map(({ attempt }) => attempt),
  );
  for (const { delivery, attempt } of successes)
    if (!recorded.has(delivery.delivery_id))
      // Locks the endpoint before the delivery. All other code uses the same order, which prevents deadlocks.
      await ctx.db.transaction().execute(async (tx) => {
        await noteSuccess(ctx, tx, delivery);
        await markDelivered(tx, delivery.delivery_id);
        await insertAttempts(tx, [attempt]);
      });
}
