import { sql } from 'kysely';
import type { Db } from '../db/pool.ts';

export type IncludedRow = {
  id: string;
  user_id: string;
  chain: string;
  approval_hash: Buffer;
  commit_hash: Buffer | null;
  remit_hash: Buffer | null;
};

/** Returns the users and the transactions: the mined attempt, else the latest one that was sent. */
export async function listIncluded(db: Db, ids: readonly string[]): Promise<IncludedRow[]> {
  const hashOf = (column: 'commit_id' | 'remit_id') => sql`coalesce(
    (select t.mined_hash from operator_transactions t where t.id = p.${sql.raw(column)}),
    (select a.hash from operator_attempts a where a.transaction_id = p.${sql.raw(column)}
      order by a.inserted_at desc limit 1))`;
  const { rows } = await sql<IncludedRow>`
    select p.id, p.user_id, p.chain, p.approval_hash, ${hashOf('commit_id')} as commit_hash,
      ${hashOf('remit_id')} as remit_hash
    from participations p where p.id = any(${ids}::uuid[])`.execute(db);
  return rows;
}
