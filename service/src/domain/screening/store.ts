import { sql } from 'kysely';
import { notifyAfterCommit } from '../../platform/db/notify.ts';
import type { Db } from '../../platform/db/pool.ts';
import type { Database } from '../../platform/db/tables.ts';
import { type AddressList, toListed } from './list-file.ts';

export const SANCTIONS_CHANNEL = 'sanctions';

type AcceptedList = { hash: string; addresses: AddressList; refused_hash: string | null };

export async function readAcceptedList(db: Db): Promise<AcceptedList | null> {
  const row = await db
    .selectFrom('sanctions_list')
    .select(['hash', 'addresses', 'refused_hash'])
    .executeTakeFirst();
  return row === undefined ? null : { ...row, addresses: new Set(row.addresses) };
}

export async function saveAcceptedList(
  db: Db,
  { hash, addresses }: { hash: string; addresses: readonly string[] },
  now: string,
): Promise<void> {
  await sql`
    insert into sanctions_list (hash, addresses, accepted_at) values (${hash}, ${addresses}::text[], ${now})
    on conflict (only_row) do update set hash = excluded.hash, addresses = excluded.addresses,
      accepted_at = excluded.accepted_at, refused_hash = null, refused_reason = null, refused_at = null`.execute(
    db,
  );
}

export async function notifyNodes(db: Db): Promise<void> {
  await notifyAfterCommit(db, SANCTIONS_CHANNEL);
}

export async function recordRefusal(
  db: Db,
  { hash, reason }: { hash: string; reason: string },
  now: string,
): Promise<void> {
  await sql`update sanctions_list set refused_hash = ${hash}, refused_reason = ${reason}, refused_at = ${now}`.execute(
    db,
  );
}

/**
 * Only one transaction at a time freezes wallets or clears an address. Otherwise, the clearing would miss
 * participations that are being frozen.
 */
export async function lockScreening(tx: Db): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended('sanctions screening', 0))`.execute(tx);
}

/**
 * Without those that an operator cleared after they left the accepted list. A node that still has an older list would
 * otherwise find them again.
 */
export async function withoutCleared(tx: Db, addresses: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ address: string }>`
    select address from sanctions_hits where not exists (
      select from sanctions_list where sanctions_hits.address = any(addresses))
    group by address having bool_and(cleared_at is not null)`.execute(tx);
  const cleared = new Set(rows.map(({ address }) => address));
  return addresses.filter((address) => !cleared.has(toListed(address)));
}

export type Finding = Pick<
  Database['sanctions_hits'],
  'subject' | 'subject_id' | 'address' | 'user_id' | 'partner_id'
>;
type NewHit = Finding & { id: string };

/** Records the findings, except those that already have an open hit. Returns the recorded findings. */
export async function insertHits(tx: Db, hits: readonly NewHit[], now: string): Promise<Finding[]> {
  if (hits.length === 0) return [];
  const column = (name: keyof NewHit) => hits.map((hit) => hit[name]);
  const { rows } = await sql<Finding>`
    insert into sanctions_hits (id, subject, subject_id, address, user_id, partner_id, found_at)
    select *, ${now}::timestamptz from unnest(${column('id')}::uuid[], ${column('subject')}::text[],
      ${column('subject_id')}::uuid[], ${column('address')}::text[], ${column('user_id')}::uuid[],
      ${column('partner_id')}::uuid[])
    on conflict (subject, subject_id, address) where cleared_at is null do nothing
    returning subject, subject_id, address, user_id, partner_id`.execute(tx);
  return rows;
}

export async function markScreened(tx: Db, hash: string, now: string): Promise<void> {
  await sql`update sanctions_list set screened_hash = ${hash}, screened_at = ${now}`.execute(tx);
}

type ListStatus = Omit<Database['sanctions_list'], 'only_row' | 'addresses'> & {
  entries: number;
  open_hits: number;
};

export async function readListStatus(db: Db): Promise<ListStatus | null> {
  const { rows } = await sql<ListStatus>`
    select hash, cardinality(addresses) as entries, accepted_at, refused_hash, refused_reason, refused_at,
      screened_hash, screened_at,
      (select count(*)::int from sanctions_hits where cleared_at is null) as open_hits
    from sanctions_list`.execute(db);
  return rows[0] ?? null;
}

export async function countOpenHits(db: Db): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from sanctions_hits where cleared_at is null`.execute(db);
  return rows[0]?.count ?? 0;
}

export async function listOpenHits(
  db: Db,
): Promise<Omit<Database['sanctions_hits'], 'clear_reason' | 'cleared_at'>[]> {
  return db
    .selectFrom('sanctions_hits')
    .select(['id', 'subject', 'subject_id', 'address', 'user_id', 'partner_id', 'found_at'])
    .where('cleared_at', 'is', null)
    .orderBy('found_at')
    .orderBy('id')
    .execute();
}

export async function clearHits(tx: Db, address: string, reason: string, now: string): Promise<number> {
  const { numAffectedRows } = await sql`
    update sanctions_hits set cleared_at = ${now}, clear_reason = ${reason}
    where address = ${address} and cleared_at is null`.execute(tx);
  return Number(numAffectedRows);
}
