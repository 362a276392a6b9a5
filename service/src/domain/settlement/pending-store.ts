import { type RawBuilder, sql } from 'kysely';
import type { Clock } from '../../kernel/clock.ts';
import type { Db } from '../../platform/db/pool.ts';
import { lifetimeNow } from '../holdings/participation-store.ts';
import {
  IS_NOT_PAUSED,
  SETTLEMENT_COLUMNS,
  type SettlementRow,
  type StoredRow,
  toSettlementRow,
} from './store.ts';

/** `clock` measures how long rows have been pending. `defaultHours` is the limit for offers that set none. */
export type ExpiryLimits = { clock: Clock; defaultHours: number };

/**
 * Returns the cutoff time: a row that was last prepared or resumed before this time has expired. `hours` is the limit
 * that the row's offer sets, or null for the default.
 */
const expiryOf = ({ clock, defaultHours }: ExpiryLimits, hours: RawBuilder<unknown>) =>
  sql`${lifetimeNow(clock)} - make_interval(hours => coalesce(${hours}, ${defaultHours}::int))`;

/**
 * Returns the pending rows of one fund that are due and have not expired, oldest first. Chooses the fund that has the
 * oldest such row, ignoring the funds in `skipped`.
 */
export async function listPending(
  db: Db,
  chain: string,
  limits: ExpiryLimits,
  skipped: readonly string[],
  limit: number,
): Promise<SettlementRow[]> {
  const hours = sql`(select o.pending_hours from offers o where o.id = p.offer_id)`;
  const isDue = sql`p.chain = ${chain} and p.status = 'pending' and p.check_at <= now() and p.frozen_reason is null and p.ending_reason is null
    and greatest(p.prepared_at, p.resumed_at) >= ${expiryOf(limits, hours)} and ${IS_NOT_PAUSED}`;
  const { rows } = await sql<StoredRow>`
    select ${SETTLEMENT_COLUMNS} from participations p
    where ${isDue} and p.fund_address = (
      select p.fund_address from participations p where ${isDue} and p.fund_address <> all(${skipped}::text[]) order by p.inserted_at, p.id limit 1)
    order by p.inserted_at, p.id limit ${limit}`.execute(db);
  return rows.map(toSettlementRow);
}

/**
 * Returns due pending rows that are older than their offer allows. The age counts from when a row was prepared or last
 * resumed after a freeze. Frozen rows wait for an operator and do not expire. The rows whose check is longest overdue
 * come first, so that rows that cannot fail yet do not hold up the others.
 */
export async function listExpired(
  db: Db,
  chain: string,
  limits: ExpiryLimits,
  limit: number,
): Promise<SettlementRow[]> {
  const { rows } = await sql<StoredRow>`
    select ${SETTLEMENT_COLUMNS} from offers o cross join lateral (
      select * from participations w
      where w.offer_id = o.id and w.chain = ${chain} and w.status = 'pending' and w.frozen_reason is null
        and w.ending_reason is null and w.check_at <= now()
        and greatest(w.prepared_at, w.resumed_at) < ${expiryOf(limits, sql`o.pending_hours`)}
      order by w.check_at, w.id limit ${limit}) p
    order by p.check_at, p.id limit ${limit}`.execute(db);
  return rows.map(toSettlementRow);
}

/**
 * Returns due rows that are marked as ending (see `endParticipations`), with the reason. Includes frozen rows and rows
 * whose settlement is paused.
 */
export async function listEnding(
  db: Db,
  chain: string,
  limit: number,
): Promise<(SettlementRow & { reason: string })[]> {
  const { rows } = await sql<StoredRow & { ending_reason: string }>`
    select ${SETTLEMENT_COLUMNS}, p.ending_reason from participations p
    where p.chain = ${chain} and p.status in ('prepared', 'pending') and p.ending_reason is not null
      and p.check_at <= now()
    order by p.check_at limit ${limit}`.execute(db);
  return rows.map((row) => ({ ...toSettlementRow(row), reason: row.ending_reason }));
}
