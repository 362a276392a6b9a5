import { sql } from 'kysely';
import type { Db } from '../../platform/db/pool.ts';

/** Returns whether this service signed the transaction. */
export async function isOwnTransaction(db: Db, hash: Buffer): Promise<boolean> {
  const { rows } = await sql`select from operator_attempts where hash = ${hash}`.execute(db);
  return rows.length > 0;
}
