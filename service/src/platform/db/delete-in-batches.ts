import { type RawBuilder, sql } from 'kysely';
import type { Db } from './pool.ts';
import type { Database } from './tables.ts';

const BATCH_SIZE = 5_000;

/**
 * Deletes the rows of `table` (a table or its default partition) that match `condition`, and returns their number. Each
 * batch is a separate short transaction, so a large backlog neither hits the statement timeout nor holds locks for
 * long. Rows locked by another node are skipped. `condition` must be covered by an index.
 */
export async function deleteInBatches(
  db: Db,
  table: keyof Database | `${keyof Database}_default`,
  condition: RawBuilder<unknown>,
  batchSize = BATCH_SIZE,
): Promise<number> {
  const name = sql.table(table);
  for (let total = 0; ; ) {
    const { numAffectedRows } = await sql`delete from ${name} where ctid = any(array(
      select ctid from ${name} where ${condition} limit ${batchSize} for update skip locked))`.execute(db);
    const deleted = Number(numAffectedRows ?? 0n);
    total += deleted;
    if (deleted < batchSize) return total;
  }
}
