import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { deleteInBatches } from '../db/delete-in-batches.ts';
import type { Db } from '../db/pool.ts';

/** Records the delivery of a provider's event. Returns false if the event was delivered before. */
export async function recordDelivery(
  tx: Db,
  source: 'identity' | 'documents',
  eventKey: string,
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('webhook_receipts')
    .values({ source, key: createHash('sha256').update(eventKey).digest() })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n;
}

/** Deletes the recorded deliveries (receipts) of events that are too old for the provider to redeliver. */
export async function deleteOldReceipts({ db }: { db: Db }): Promise<void> {
  await deleteInBatches(db, 'webhook_receipts', sql`received_at < now() - interval '60 days'`);
}
