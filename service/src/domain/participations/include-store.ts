import { sql } from 'kysely';
import type { Db } from '../../platform/db/pool.ts';

export type IncludedRow = {
  id: string;
  user_id: string;
  chain: string;
  approval_hash: Buffer;
  commit_hash: Buffer | null;
  remit_hash: Buffer | null;
};

/**
 * The hashes of a participation's commit and refund transactions. A transaction that is not mined yet has the hash of
 * its latest attempt.
 */
export const TRANSACTION_HASHES = sql`${hashOf('p.commit_id')} as commit_hash, ${hashOf('p.remit_id')} as remit_hash`;

function hashOf(id: 'p.commit_id' | 'p.remit_id') {
  return sql`(select coalesce(t.mined_hash, (select a.hash from operator_attempts a where a.transaction_id = t.id
    order by a.inserted_at desc limit 1)) from operator_transactions t where t.id = ${sql.ref(id)})`;
}

/** Returns the user and the transactions of each participation. */
export async function listIncluded(db: Db, ids: readonly string[]): Promise<IncludedRow[]> {
  const { rows } = await sql<IncludedRow>`
    select p.id, p.user_id, p.chain, p.approval_hash, ${TRANSACTION_HASHES}
    from participations p where p.id = any(${ids}::uuid[])`.execute(db);
  return rows;
}
