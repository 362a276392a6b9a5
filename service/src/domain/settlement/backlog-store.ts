import { sql } from 'kysely';
import type { SendingRole } from '../../kernel/config/role.ts';
import type { Db } from '../../platform/db/pool.ts';

export type Backlog = {
  chain: string;
  status: string;
  count: number;
  oldest_seconds: number;
  frozen: number;
};

/**
 * Counts the rows that settlement has yet to finish, per chain and status, for one offer or for all offers.
 * `oldest_seconds` is the longest time that any of these rows has gone without a change. Uses one subquery per status,
 * because each status has its own index. So the cost grows with the backlog, not with the table.
 */
export async function listBacklog(db: Db, offerId: string | null = null): Promise<Backlog[]> {
  const statuses = ['prepared', 'pending', 'submitted', 'remit_submitted'] as const;
  const parts = statuses.map((status) => {
    const literal = sql.lit(status);
    return sql`
      select chain, ${literal} as status, count(*)::int as count, count(frozen_reason)::int as frozen,
        extract(epoch from now() - min(updated_at))::int as oldest_seconds
      from participations where status = ${literal} ${offerId === null ? sql`` : sql`and offer_id = ${offerId}`} group by chain`;
  });
  const { rows } = await sql<Backlog>`${sql.join(parts, sql` union all `)} order by chain, status`.execute(
    db,
  );
  return rows;
}

/** Returns the participations that a transaction commits or refunds. */
export async function listIdsOf(db: Db, transactionId: string): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from participations where commit_id = ${transactionId} or remit_id = ${transactionId} order by id`.execute(
    db,
  );
  return rows.map(({ id }) => id);
}

/**
 * Counts the rows whose commit has not been sent (`prepared`, `pending`), and those whose refund is not confirmed
 * (`remit_submitted`). Uses one subquery per status, because each status has its own index.
 */
export async function countUnsettled(db: Db, chain: string): Promise<number> {
  const { rows } = await sql<{ count: bigint }>`
    select (select count(*) from participations where chain = ${chain} and status = 'pending')
      + (select count(*) from participations where chain = ${chain} and status = 'prepared')
      + (select count(*) from participations where chain = ${chain} and status = 'remit_submitted') as count`.execute(
    db,
  );
  return Number(rows[0]?.count ?? 0n);
}

/** How much of a token a key has moved in one role in the last 24 hours, in the token's smallest unit. */
export type MovedAmount = {
  chain: string;
  address: string;
  role: SendingRole;
  token: string;
  amount: string;
};

/** Adds up the amounts of the commits and refunds that were signed in the last 24 hours, per key, role and token. */
export async function listMovedAmounts(db: Db): Promise<MovedAmount[]> {
  const moved = (role: SendingRole, column: 'commit_id' | 'remit_id') => sql`
    select t.chain, t.signer as address, ${sql.lit(role)} as role, p.token_address as token, p.amount
    from operator_keys k join operator_transactions t on t.chain = k.chain and t.signer = k.address
      join participations p on p.${sql.ref(column)} = t.id
    where t.inserted_at > now() - interval '24 hours' and t.state <> 'displaced'`;
  const { rows } = await sql<MovedAmount>`
    select chain, address, role, token, sum(amount)::text as amount
    from (${moved('commit', 'commit_id')} union all ${moved('refund', 'remit_id')}) m
    group by chain, address, role, token order by chain, address, role, token`.execute(db);
  return rows;
}
