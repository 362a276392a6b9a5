import { sql } from 'kysely';
import type { Db } from '../../platform/db/pool.ts';
import type { Database } from '../../platform/db/tables.ts';

export type RefundRequest = {
  id: string;
  operator: string;
  participationIds: string[];
  amountUsd: string;
  state: Database['refund_requests']['state'];
  confirmedBy: string | null;
  insertedAt: string;
};

/** No concurrent request can change the total of the operator's refund requests. */
export async function lockOperator(tx: Db, operator: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtext('refunds'), hashtext(${operator}))`.execute(tx);
}

/** In the order of `ids`, with the sum of their amounts in US dollars. */
export async function sumRefundable(
  tx: Db,
  ids: readonly string[],
): Promise<{ ids: string[]; amountUsd: string }> {
  const { rows } = await sql<{ ids: string[]; usd: string }>`
    select coalesce(array_agg(p.id::text order by w.position), '{}') as ids,
      coalesce(trim_scale(sum(p.amount / power(10::numeric, p.asset_digits))), 0)::text as usd
    from unnest(${ids}::uuid[]) with ordinality as w (id, position)
    join participations p on p.id = w.id and p.status in ('completed', 'remit_failed') and p.frozen_reason is null
    join users u on u.id = p.user_id and u.held_at is null`.execute(tx);
  return { ids: rows[0]?.ids ?? [], amountUsd: rows[0]?.usd ?? '0' };
}

/** Returns the rows that are not frozen and have a refundable status, with their users, those on hold included. */
export async function listRefundUsers(
  tx: Db,
  ids: readonly string[],
): Promise<{ id: string; user_id: string }[]> {
  const { rows } = await sql<{ id: string; user_id: string }>`select id, user_id from participations
    where id = any(${ids}::uuid[]) and status in ('completed', 'remit_failed') and frozen_reason is null`.execute(
    tx,
  );
  return rows;
}

/**
 * `allowed` if there is no limit, or if the operator's requests in the last 24 hours, including this one, total at
 * most `limitUsd`. Unconfirmed requests do not count. The caller must hold the lock from `lockOperator`.
 */
export async function insertRefundRequest(
  tx: Db,
  request: Pick<RefundRequest, 'id' | 'operator' | 'participationIds' | 'amountUsd'>,
  limitUsd: number | null,
): Promise<RefundRequest['state']> {
  const { id, operator, participationIds, amountUsd } = request;
  const { rows } = await sql<{ state: RefundRequest['state'] }>`
    insert into refund_requests (id, operator, participation_ids, amount_usd, state)
    select ${id}, ${operator}, ${participationIds}::uuid[], ${amountUsd}::numeric,
      case when ${limitUsd}::numeric is null or ${amountUsd}::numeric + coalesce(sum(amount_usd), 0) <= ${limitUsd}::numeric
        then 'allowed' else 'unconfirmed' end
    from refund_requests
    where operator = ${operator} and state <> 'unconfirmed' and inserted_at > now() - interval '24 hours'
    returning state`.execute(tx);
  return rows[0]?.state ?? 'unconfirmed';
}

export async function findRefundRequest(db: Db, id: string): Promise<RefundRequest | null> {
  const row = await db
    .selectFrom('refund_requests')
    .selectAll()
    .where('id', '=', id)
    .where('inserted_at', '>', sql<string>`now() - interval '24 hours'`)
    .executeTakeFirst();
  if (row === undefined) return null;
  const { operator, state, participation_ids, amount_usd, confirmed_by, inserted_at } = row;
  const names = { amountUsd: amount_usd, confirmedBy: confirmed_by, insertedAt: inserted_at };
  return { id, operator, state, participationIds: participation_ids, ...names };
}

/**
 * The request then counts towards its operator's limit for 24 hours. False if it is not awaiting confirmation, or if
 * `by` made it.
 */
export async function confirmRequest(tx: Db, id: string, by: string): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('refund_requests')
    .set({ state: 'confirmed', confirmed_by: by, inserted_at: sql<string>`now()` })
    .where('id', '=', id)
    .where('state', '=', 'unconfirmed')
    .where('operator', '<>', by)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/**
 * Unless it equals the last recorded limit. The limit of a node applies to every command; see the table
 * `refund_limits`.
 */
export async function recordRefundLimit(db: Db, limitUsd: number | null): Promise<void> {
  await sql`
    insert into refund_limits (limit_usd) select ${limitUsd}::numeric
    where not exists (
      select from (select limit_usd from refund_limits order by id desc limit 1) last
      where last.limit_usd is not distinct from ${limitUsd}::numeric)`.execute(db);
}

/** Returns the lowest limit in effect at any time in the last 24 hours, or null if no limit was in effect. */
export async function findRefundLimit(tx: Db): Promise<number | null> {
  const { rows } = await sql<{ usd: string | null }>`
    select min(limit_usd)::text as usd from refund_limits
    where recorded_at > now() - interval '24 hours'
      or id = (select max(id) from refund_limits where recorded_at <= now() - interval '24 hours')`.execute(
    tx,
  );
  const usd = rows[0]?.usd ?? null;
  return usd === null ? null : Number(usd);
}
