import type { Insertable } from 'kysely';
import type { Context } from '../context.ts';
import type { WebhookAttempts } from '../db/webhook-tables.ts';
import { type ClaimedDelivery, insertAttempts, markDelivered } from './delivery-store.ts';
import { noteSuccess } from './health.ts';

export type Success = { delivery: ClaimedDelivery; attempt: Insertable<WebhookAttempts> };

const MAX_BATCH_SIZE = 256;

/**
 * Returns a function that records a successful attempt. Attempts that end while the previous batch is being
 * written share one transaction, because the transaction makes up most of the cost of a delivery. If a batch
 * fails, each attempt is recorded individually.
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

/** Endpoints are locked before deliveries, everywhere in the same order, to avoid deadlocks. */
async function recordSuccesses(ctx: Context, successes: readonly Success[]): Promise<void> {
  const endpoints = new Map(successes.map(({ delivery }) => [delivery.endpoint_id, delivery]));
  await ctx.db.transaction().execute(async (tx) => {
    for (const [, delivery] of [...endpoints].sort(([a], [b]) => (a < b ? -1 : 1)))
      await noteSuccess(ctx, tx, delivery);
    await markDelivered(
      tx,
      successes.map(({ delivery }) => delivery.delivery_id),
    );
    await insertAttempts(
      tx,
      successes.map(({ attempt }) => attempt),
    );
  });
}
