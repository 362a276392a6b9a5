import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../db/pool.ts';
import type { ParticipationStatus, Participations } from '../db/settlement-tables.ts';

/** The channel on which the workers hear that there is something to do. */
export const SETTLEMENT_CHANNEL = 'settlement';

/** What the API shows of a participation. */
export const SHOWN = [
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

export type ShownRow = Pick<Participations, (typeof SHOWN)[number]>;

/** Everything that a request says: two with the same are the same request. */
export const ASKED = [
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
  'holds_approval' | 'check_at' | 'commit_id' | 'commit_row' | 'committed' | 'remit_id' | 'remit_row'
>;

/** False when the approval is used already. */
export async function insertRow(tx: Db, row: NewParticipation): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('participations')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n;
}

export async function wakeSettlement(db: Db, chain: string): Promise<void> {
  await sql`select pg_notify(${SETTLEMENT_CHANNEL}, ${chain})`.execute(db);
}

/** Those that name this approval, the one that holds it first. */
export async function listByApproval(db: Db, chain: string, hash: Buffer) {
  return db
    .selectFrom('participations')
    .select([...SHOWN, ...ASKED, 'holds_approval'])
    .where('chain', '=', chain)
    .where('approval_hash', '=', hash)
    .orderBy('holds_approval', 'desc')
    .execute();
}

/** Null when the caller may not see it: a user's own with the partner, a partner's all. */
export async function findParticipation(
  db: Db,
  { partnerId, userId }: { partnerId: string; userId: string | null },
  id: string,
): Promise<ShownRow | null> {
  let query = db
    .selectFrom('participations')
    .select(SHOWN)
    .where('id', '=', id)
    .where('partner_id', '=', partnerId);
  if (userId !== null) query = query.where('user_id', '=', userId);
  return (await query.executeTakeFirst()) ?? null;
}

/** Whoever asks: for the operator. */
export async function lockParticipation(tx: Db, id: string): Promise<ShownRow | null> {
  const query = tx.selectFrom('participations').select(SHOWN).where('id', '=', id).forUpdate();
  return (await query.executeTakeFirst()) ?? null;
}

export type StatusChange = {
  /** In the order that the events shall have; their place is `n.row` for `set`. */
  ids: readonly string[];
  from: readonly ParticipationStatus[];
  to: ParticipationStatus;
  reason?: string | null;
  /** More columns, each with a comma before it. */
  set?: RawBuilder<unknown>;
};

/** Moves the rows that are in one of the statuses `from`; answers them in the order of `ids`. */
export async function updateStatus(tx: Db, change: StatusChange, now: string): Promise<ChangedRow[]> {
  const { ids, from, to, reason = null, set = sql`` } = change;
  if (ids.length === 0) return [];
  const { rows } = await sql<ChangedRow & { row: bigint }>`
    update participations p set status = ${to}, reason = ${reason}, updated_at = ${now} ${set}
    from unnest(${ids}::uuid[]) with ordinality as n (id, row)
    where p.id = n.id and p.status = any(${from})
    returning n.row, p.id, p.partner_id, p.user_id, p.offer_id, p.offer_option_id, p.status, p.reason, p.amount,
      p.asset_id, p.chain`.execute(tx);
  return rows.toSorted((a, b) => Number(a.row - b.row));
}

/** What is told of a change. */
export type ChangedRow = Pick<
  Participations,
  | 'id'
  | 'partner_id'
  | 'user_id'
  | 'offer_id'
  | 'offer_option_id'
  | 'status'
  | 'reason'
  | 'amount'
  | 'asset_id'
  | 'chain'
>;
