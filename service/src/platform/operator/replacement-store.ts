import { sql } from 'kysely';
import type { Db } from '../db/pool.ts';
import type { ReplacementAction } from './transaction.ts';

export async function insertRequest(db: Db, id: string, action: ReplacementAction): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('operator_transactions')
    .set({ requested: action, request_refusal: null })
    .where('id', '=', id)
    .where('state', '=', 'open')
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/** Stores the reason of a refusal. No effect if an operator has made a different request in the meantime. */
export async function endRequest(
  tx: Db,
  id: string,
  action: ReplacementAction,
  refusal: string | null = null,
): Promise<void> {
  await tx
    .updateTable('operator_transactions')
    .set({ requested: null, request_refusal: refusal })
    .where('id', '=', id)
    .where('requested', '=', action)
    .execute();
}

export async function findRequest(
  db: Db,
  id: string,
): Promise<{ state: string; requested: string | null; refusal: string | null; hash: string } | null> {
  const { rows } = await sql<{
    state: string;
    requested: string | null;
    refusal: string | null;
    hash: string;
  }>`
    select t.state, t.requested, t.request_refusal as refusal, (
      select '0x' || encode(a.hash, 'hex') from operator_attempts a
      where a.transaction_id = t.id order by a.max_fee desc, a.inserted_at desc limit 1) as hash
    from operator_transactions t where t.id = ${id}`.execute(db);
  return rows[0] ?? null;
}
