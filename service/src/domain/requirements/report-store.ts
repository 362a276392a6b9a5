import { sql } from 'kysely';
import type { Db } from '../../platform/db/pool.ts';
import type { Database } from '../../platform/db/tables.ts';

export type ReportedStatus = Database['reported_statuses'];

/**
 * Takes a lock until the transaction ends, so that only one report about a user runs at a time. Each report sees what
 * the transactions of earlier reports have committed, so the last report covers all facts.
 */
export async function lockReports(tx: Db, userId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtext('requirement reports'), hashtext(${userId}))`.execute(tx);
}

export async function listReportedStatuses(db: Db, userId: string): Promise<ReportedStatus[]> {
  return db.selectFrom('reported_statuses').selectAll().where('user_id', '=', userId).execute();
}

export async function saveReportedStatuses(tx: Db, rows: readonly ReportedStatus[]): Promise<void> {
  if (rows.length === 0) return;
  await tx
    .insertInto('reported_statuses')
    .values(rows)
    .onConflict((conflict) =>
      conflict.columns(['user_id', 'partner_id', 'requirement_id']).doUpdateSet((row) => ({
        status: row.ref('excluded.status'),
        action: row.ref('excluded.action'),
      })),
    )
    .execute();
}

/** Returns the users whose status check is due, longest overdue first. */
export async function listDueChecks(db: Db, now: string, limit: number): Promise<string[]> {
  const { rows } = await sql<{ user_id: string }>`select user_id from status_checks
    where due_at <= ${now}::timestamptz order by due_at limit ${limit}`.execute(db);
  return rows.map(({ user_id }) => user_id);
}

/**
 * Locks the user's check until the transaction ends, and returns whether the check is still due. A transaction that
 * changes the user's facts in the meantime waits for this lock. It then makes the check due again, so that its change
 * is not missed.
 */
export async function lockDueCheck(tx: Db, userId: string, now: string): Promise<boolean> {
  const { rows } = await sql`select from status_checks
    where user_id = ${userId} and due_at <= ${now}::timestamptz for update`.execute(tx);
  return rows.length === 1;
}

/**
 * Schedules the user's next check, or removes it if `dueAt` is null. Null means that no status will change merely
 * because time passes.
 */
export async function planCheck(tx: Db, userId: string, dueAt: string | null): Promise<void> {
  await (dueAt === null
    ? sql`delete from status_checks where user_id = ${userId}`
    : sql`update status_checks set due_at = ${dueAt}::timestamptz where user_id = ${userId}`
  ).execute(tx);
}
