import { sql } from 'kysely';
import type { ChainReport } from '../../src/domain/settlement/reconcile-report.ts';
import type { Db } from '../../src/platform/db/pool.ts';
import { rehearse } from '../../src/platform/db/rehearse.ts';

/** The differences and lost transactions in a report. Each entry lists the participations and transactions involved. */
export type Named = { rows: string[]; transactions: string[] }[];

/**
 * Runs statements that change the database, bypassing all triggers and foreign keys. Then builds a report and undoes
 * the change.
 */
export function reportTampered(
  db: Db,
  statement: string,
  build: (db: Db) => Promise<ChainReport>,
): Promise<Named> {
  return rehearse(db, async (tx) => {
    await sql`set local session_replication_role = replica`.execute(tx);
    for (const each of statement.split(';')) await sql.raw(each).execute(tx);
    return namedBy(await build(tx));
  });
}

export function namedBy({ differences, lost_transactions }: ChainReport): Named {
  return [
    ...differences.map((each) => ({ rows: each.participation_ids, transactions: each.transaction_hashes })),
    ...lost_transactions.map((each) => ({ rows: each.participation_ids, transactions: [each.hash] })),
  ];
}
