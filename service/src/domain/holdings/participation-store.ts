import { type RawBuilder, sql } from 'kysely';
import type { Clock } from '../../kernel/clock.ts';
import type { Db } from '../../platform/db/pool.ts';
import type { Database } from '../../platform/db/tables.ts';

type Participations = Database['participations'];
export type ParticipationStatus = Participations['status'];

/**
 * Returns an SQL expression for the current time, to compare with expiry times in the database. The time is
 * `clock.lifetime()`, or the database's own time if `clock.lifetime()` is null.
 */
export function lifetimeNow(clock: Pick<Clock, 'lifetime'>): RawBuilder<string> {
  return sql<string>`coalesce(${clock.lifetime()}::timestamptz, now())`;
}

export const API_COLUMNS = [
  'id',
  'offer_id',
  'offer_option_id',
  'status',
  'amount',
  'asset_id',
  'asset_code',
  'asset_name',
  'asset_digits',
  'chain',
  'wallet_address',
  'inserted_at',
  'updated_at',
] as const;

export type ParticipationRow = Pick<Participations, (typeof API_COLUMNS)[number]>;

/** The columns that come from the request. Two requests with equal values are the same request. */
export const REQUEST_COLUMNS = [
  'partner_id',
  'user_id',
  'offer_id',
  'offer_option_id',
  'chain',
  'wallet_address',
  'amount',
  'asset_id',
] as const;

export type NewParticipation = Omit<
  Participations,
  | 'holds_approval'
  | 'check_at'
  | 'commit_id'
  | 'commit_row'
  | 'committed'
  | 'remit_id'
  | 'remit_row'
  | 'frozen_reason'
  | 'resumed_at'
  | 'ending_reason'
  | 'prepared_at'
>;

export async function insertRow(tx: Db, row: NewParticipation, clock: Clock): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('participations')
    .values({ ...row, prepared_at: lifetimeNow(clock) })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n;
}

/** The participations that currently hold the approval (at most one per wallet) come first. */
export async function listByApproval(db: Db, chain: string, hash: Buffer) {
  return db
    .selectFrom('participations')
    .select([...API_COLUMNS, ...REQUEST_COLUMNS, 'holds_approval'])
    .where('chain', '=', chain)
    .where('approval_hash', '=', hash)
    .orderBy('holds_approval', 'desc')
    .execute();
}

/** Null if the caller may not see it: users see their own, partners those of all their users. */
export async function findParticipation(
  db: Db,
  { partnerId, userId }: { partnerId: string; userId: string | null },
  id: string,
): Promise<ParticipationRow | null> {
  let query = db
    .selectFrom('participations')
    .select(API_COLUMNS)
    .where('id', '=', id)
    .where('partner_id', '=', partnerId);
  if (userId !== null) query = query.where('user_id', '=', userId);
  return (await query.executeTakeFirst()) ?? null;
}

/** Locks and returns a participation without checking who may see it. For operators only. */
export async function lockParticipation(tx: Db, id: string): Promise<ParticipationRow | null> {
  const query = tx.selectFrom('participations').select(API_COLUMNS).where('id', '=', id).forUpdate();
  return (await query.executeTakeFirst()) ?? null;
}

export type StatusChange = {
  /** In the order of their events and, if `commitId` is set, in that operator transaction. */
  ids: readonly string[];
  from: readonly ParticipationStatus[];
  to: ParticipationStatus;
  reason?: string | null;
  /** Assigns the rows to an operator transaction; null detaches them from their current transaction. */
  commitId?: string | null;
  /** Restarts the time limit for mining the approval, by this clock (see `lifetimeNow`). */
  preparedBy?: Clock;
};

/** Updates the rows whose status is in `from`. Returns the updated rows in the order of `ids`. */
export async function updateStatus(tx: Db, change: StatusChange, now: string): Promise<UpdatedRow[]> {
  const { ids, from, to, reason = null } = change;
  if (ids.length === 0) return [];
  const { rows } = await sql<UpdatedRow & { row: bigint }>`
    with locked as (select id, status from participations where id = any(${ids}::uuid[]) order by id for update)
    update participations p set status = ${to}, reason = ${reason}, updated_at = ${now}
      ${assignments(change)}
    from unnest(${ids}::uuid[]) with ordinality as n (id, row) join locked on locked.id = n.id
    where p.id = n.id and locked.status = any(${from})
    returning n.row, locked.status as previous_status, p.id, p.partner_id, p.user_id, p.offer_id, p.offer_option_id, p.status, p.amount,
      p.asset_id, p.chain`.execute(tx);
  return rows.toSorted((a, b) => Number(a.row - b.row));
}

function assignments({ to, commitId, preparedBy }: StatusChange): RawBuilder<unknown> {
  // Only a `prepared` or `pending` row can have an `ending_reason`, which asks settlement to mark the row as failed.
  const ending = to === 'prepared' || to === 'pending' ? sql`` : sql`, ending_reason = null`;
  const commit =
    commitId === null
      ? sql`, commit_id = null, commit_row = null`
      : sql`, commit_id = ${commitId}, commit_row = n.row - 1`;
  return sql`${ending} ${commitId === undefined ? sql`` : commit} ${preparedBy === undefined ? sql`` : sql`, prepared_at = ${lifetimeNow(preparedBy)}`}`;
}

export type ChangedRow = Pick<
  Participations,
  | 'id'
  | 'partner_id'
  | 'user_id'
  | 'offer_id'
  | 'offer_option_id'
  | 'status'
  | 'amount'
  | 'asset_id'
  | 'chain'
>;

export type UpdatedRow = ChangedRow & { previous_status: ParticipationStatus };

export async function hasParticipations(db: Db, userId: string): Promise<boolean> {
  const { rows } = await sql`select from participations where user_id = ${userId} limit 1`.execute(db);
  return rows.length > 0;
}

/** Locks the wallet's participations in these statuses and returns their ids. */
export async function listOfWallet(
  tx: Db,
  partnerId: string,
  wallet: string,
  userIds: readonly string[],
  statuses: readonly ('prepared' | 'pending' | 'submitted')[],
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from participations where wallet_address = ${wallet} and user_id = any(${userIds}::uuid[])
      and status in ('prepared', 'pending', 'submitted') and status = any(${statuses}) and partner_id = ${partnerId}
    order by id for update`.execute(tx);
  return rows.map(({ id }) => id);
}

export async function resetCheck(tx: Db, id: string): Promise<void> {
  await sql`update participations set check_at = now() where id = ${id}`.execute(tx);
}

type FrozenRow = { subject_id: string; address: string; user_id: string; partner_id: string };

/**
 * Freezes these wallets' participations, except failed and refunded ones, because of sanctions. A frozen participation
 * keeps its status, but no commit or refund is sent for it until an operator decides. Returns the rows that were not
 * frozen before.
 */
export async function freezeParticipations(tx: Db, wallets: readonly string[]): Promise<FrozenRow[]> {
  const { rows } = await sql<FrozenRow>`
    update participations set frozen_reason = 'sanctions'
    where wallet_address = any(${wallets}::text[]) and status not in ('failed', 'remitted')
      and frozen_reason is null
    returning id as subject_id, wallet_address as address, user_id, partner_id`.execute(tx);
  return rows;
}

export type FrozenParticipation = {
  id: string;
  status: ParticipationStatus;
  offer_option_id: string;
  amount: string;
  asset_digits: number;
};

export function listSanctioned(tx: Db, wallet: string): Promise<FrozenParticipation[]> {
  return listFrozen(tx, sql`wallet_address = ${wallet} and frozen_reason = 'sanctions'`);
}

export function listHeld(tx: Db, userId: string): Promise<FrozenParticipation[]> {
  return listFrozen(tx, sql`user_id = ${userId} and frozen_reason = 'hold'`);
}

async function listFrozen(tx: Db, isWanted: RawBuilder<unknown>): Promise<FrozenParticipation[]> {
  const { rows } = await sql<FrozenParticipation>`
    select id, status, offer_option_id, amount, asset_digits from participations
    where ${isWanted} order by inserted_at, id for update`.execute(tx);
  return rows;
}

/** Unfreezes a row and tells settlement to check the row in the next round. */
export async function unfreezeRow(tx: Db, id: string, clock: Clock): Promise<void> {
  await sql`update participations set frozen_reason = null, check_at = now(), resumed_at = ${lifetimeNow(clock)}
    where id = ${id}`.execute(tx);
}

/** Locks the supply of an option until the transaction ends, so that reservations are made one at a time. */
export async function lockOption(tx: Db, optionId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`supply ${optionId}`}, 0))`.execute(tx);
}

/** Per price and number of decimals. A database trigger maintains the totals. */
export async function listReserved(
  db: Db,
  optionId: string,
): Promise<{ digits: number; price_usd: string | null; amount: bigint }[]> {
  const { rows } = await sql<{ digits: number; price_usd: string | null; amount: string }>`
    select asset_digits as digits, price_usd::text, amount::text from reserved_supply
    where offer_option_id = ${optionId}`.execute(db);
  return rows.map((row) => ({ ...row, amount: BigInt(row.amount) }));
}

export async function countPrepared(db: Db, userId: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from participations where user_id = ${userId} and status = 'prepared'`.execute(
    db,
  );
  return rows[0]?.count ?? 0;
}

/**
 * Freezes these participations because their users are on hold. A participation that is frozen because of sanctions
 * stays so, because the end of the hold must not resume it.
 */
export async function freezeHeld(db: Db, ids: readonly string[]): Promise<void> {
  await sql`update participations set frozen_reason = 'hold'
    where id = any(${ids}::uuid[]) and frozen_reason is null`.execute(db);
}

export async function hasUnsettled(db: Db, userId: string): Promise<boolean> {
  const { rows } = await sql`select from participations where user_id = ${userId}
    and status in ('prepared', 'pending', 'submitted', 'remit_submitted', 'remit_failed') limit 1`.execute(
    db,
  );
  return rows.length > 0;
}

export async function listParticipationsOf(db: Db, userId: string): Promise<ParticipationRow[]> {
  return db
    .selectFrom('participations')
    .select(API_COLUMNS)
    .where('user_id', '=', userId)
    .orderBy('inserted_at')
    .orderBy('id')
    .execute();
}

/** Call this for participations that are about to fail, so that others can use their approvals. */
export async function releaseApprovals(tx: Db, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await sql`update participations set holds_approval = false
    where id = any(${ids}::uuid[]) and status = 'prepared'`.execute(tx);
}

/**
 * Asks settlement to fail each prepared or pending participation on these chains as soon as no commit of it can
 * succeed any more. Returns the affected ones.
 */
export async function markEnding(
  tx: Db,
  ids: readonly string[],
  chains: readonly string[],
  reason: string,
): Promise<{ id: string; chain: string }[]> {
  const { rows } = await sql<{ id: string; chain: string }>`
    update participations set ending_reason = coalesce(ending_reason, ${reason}), check_at = now()
    where id = any(${ids}::uuid[]) and chain = any(${chains}) and status in ('prepared', 'pending')
    returning id, chain`.execute(tx);
  return rows;
}
