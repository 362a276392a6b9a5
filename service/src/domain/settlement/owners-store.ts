import { sql } from 'kysely';
import type { Db } from '../../platform/db/pool.ts';

const columnOf = (kind: 'commit' | 'remit') => (kind === 'commit' ? sql`commit_id` : sql`remit_id`);

/**
 * Lists the users of the participations that an operator transaction settles. Takes no lock, because the user of a
 * participation never changes.
 */
export async function listUsersOf(
  tx: Db,
  kind: 'commit' | 'remit',
  transactionId: string,
): Promise<string[]> {
  const { rows } = await sql<{ user_id: string }>`
    select distinct user_id from participations where ${columnOf(kind)} = ${transactionId}`.execute(tx);
  return rows.map(({ user_id }) => user_id);
}

/**
 * Returns the wallets of the participations that an operator transaction settles, and whether each participation is
 * frozen. Locks the participations, so that nobody can freeze them until the database transaction ends.
 */
export async function lockOwnersOf(
  tx: Db,
  kind: 'commit' | 'remit',
  transactionId: string,
): Promise<{ wallet: string; isFrozen: boolean }[]> {
  const { rows } = await sql<{ wallet: string; isFrozen: boolean }>`
    select wallet_address as wallet, frozen_reason is not null as "isFrozen"
    from participations where ${columnOf(kind)} = ${transactionId} order by id for share`.execute(tx);
  return rows;
}
