import { sql } from 'kysely';
import type { Keyset } from '../../kernel/paging.ts';
import { showHash } from '../../platform/chain/address.ts';
import type { Db } from '../../platform/db/pool.ts';
import type { Filter } from '../../platform/http/filters.ts';
import { listParticipations, TRANSACTION_HASHES } from './list-store.ts';
import { type FilterField, readSelection } from './selection.ts';

export type ReportRow = {
  id: string;
  inserted_at: string;
  updated_at: string;
  status: string;
  reason: string | null;
  partner: string;
  user_id: string;
  offer: string;
  option: string;
  amount: string;
  asset_code: string;
  asset_digits: number;
  chain: string;
  wallet_address: string;
  approval_hash: string;
  commit_hash: string | null;
  remit_hash: string | null;
};

export type ReportFilter = { partnerId: string | null; offerId: string | null; status: string | null };

type StoredReport = Omit<ReportRow, 'approval_hash' | 'commit_hash' | 'remit_hash'> & {
  approval_hash: Buffer;
  commit_hash: Buffer | null;
  remit_hash: Buffer | null;
};

const REPORT_COLUMNS = sql`p.id, p.inserted_at, p.updated_at, p.status, coalesce(p.reason, p.ending_reason) as reason, r.name as partner, p.user_id, o.slug as offer,
  n.slug as option, p.amount, p.asset_code, p.asset_digits, p.chain, p.wallet_address,
  p.approval_hash, ${TRANSACTION_HASHES}`;

const REPORT_TABLES = sql`participations p join partners r on r.id = p.partner_id join offers o on o.id = p.offer_id
  join offer_options n on n.id = p.offer_option_id`;

/**
 * Newest first, continuing after `after`. Uses the query of the API's list, so the cost does not grow with the table.
 */
export async function listReports(
  db: Db,
  { partnerId, offerId, status }: ReportFilter,
  after: Pick<ReportRow, 'id' | 'inserted_at'> | null,
  limit: number,
): Promise<ReportRow[]> {
  const equal = <F extends FilterField>(field: F, value: string | null): Filter<F>[] =>
    value === null ? [] : [{ field, op: '==', values: [value] }];
  const filters = [...equal('offer_id', offerId), ...equal('status', status)];
  const keyset: Keyset = { direction: 'older', position: after, limit };
  const selection = readSelection({ userId: null }, filters);
  const found = await listParticipations(db, partnerId, selection, keyset);
  const ids = found.slice(0, limit).map(({ id }) => id);
  const { rows } = await sql<StoredReport>`
    select ${REPORT_COLUMNS} from ${REPORT_TABLES} where p.id = any(${ids}::uuid[]) order by p.inserted_at desc, p.id desc`.execute(
    db,
  );
  return rows.map(toReport);
}

function toReport({ approval_hash, commit_hash, remit_hash, ...row }: StoredReport): ReportRow {
  return {
    ...row,
    approval_hash: showHash(approval_hash),
    commit_hash: commit_hash && showHash(commit_hash),
    remit_hash: remit_hash && showHash(remit_hash),
  };
}

export async function countReports(db: Db, { partnerId, offerId, status }: ReportFilter): Promise<number> {
  const { rows } = await sql<{ n: bigint }>`
    select sum(n)::bigint as n from partners r cross join lateral (
      select count(*) as n from participations p where p.partner_id = r.id
        and (${status}::text is null or p.status = ${status}) and (${offerId}::uuid is null or p.offer_id = ${offerId})) c
    where ${partnerId}::uuid is null or r.id = ${partnerId}`.execute(db);
  return Number(rows[0]?.n ?? 0n);
}

/**
 * `blocked`: frozen or of a user on hold, so not refundable until that ends. `held`: the blocked ones that are not
 * frozen yet.
 */
type RefundableCounts = { count: number; blocked: number; held: string[] };

export async function countRefundable(db: Db, offerId: string): Promise<RefundableCounts> {
  const { rows } = await sql<RefundableCounts>`
    select count(*) filter (where not is_frozen and not is_held)::int as count,
      count(*) filter (where is_frozen or is_held)::int as blocked,
      coalesce(array_agg(id::text order by id) filter (where is_held and not is_frozen), '{}') as held
    from (select p.id, p.frozen_reason is not null as is_frozen, u.held_at is not null as is_held
      from participations p join users u on u.id = p.user_id
      where p.offer_id = ${offerId} and p.status in ('completed', 'remit_failed')) as completed`.execute(db);
  return rows[0] ?? { count: 0, blocked: 0, held: [] };
}

export async function listRefundable(db: Db, offerId: string): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from participations where offer_id = ${offerId} and status in ('completed', 'remit_failed')
    order by id`.execute(db);
  return rows.map(({ id }) => id);
}

export async function findOfferId(db: Db, slug: string): Promise<string | null> {
  const found = await db.selectFrom('offers').select('id').where('slug', '=', slug).executeTakeFirst();
  return found?.id ?? null;
}

export async function readReport(db: Db, id: string): Promise<object | null> {
  const { rows } =
    await sql<StoredReport>`select ${REPORT_COLUMNS} from ${REPORT_TABLES} where p.id = ${id}`.execute(db);
  const [row] = rows;
  if (row === undefined) return null;
  const { rows: history } = await sql<{ at: string; status: string }>`
    select inserted_at as at, data ->> 'status' as status from (
      select * from events where sequence is not null and data ->> 'id' = ${id}
      union all select * from events where position is null and data ->> 'id' = ${id}
    ) as about where type like 'participation.%' order by written`.execute(db);
  return { ...toReport(row), history };
}
