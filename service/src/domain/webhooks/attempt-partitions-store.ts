import { sql } from 'kysely';
import { deleteInBatches } from '../../platform/db/delete-in-batches.ts';
import type { Db } from '../../platform/db/pool.ts';

const DEFAULT = 'webhook_attempts_default';
/**
 * The timeout is short, because a statement that waits for a lock on the table holds up all later statements. After a
 * timeout, housekeeping tries again later.
 */
const LOCK_TIMEOUT = sql.raw("set local lock_timeout = '2s'");

/** Creates the partition for the month from `from` to `to`, unless a partition already covers that month. */
export async function createPartition(db: Db, from: string, to: string): Promise<void> {
  const name = `webhook_attempts_${from.slice(0, 7).replace('-', '_')}`;
  await db.transaction().execute(async (tx) => {
    await sql`${LOCK_TIMEOUT}`.execute(tx);
    await sql`select pg_advisory_xact_lock(hashtext('webhook_attempts partitions'))`.execute(tx);
    const isCovered = (await listPartitions(tx)).some(
      ({ since, until }) =>
        until !== null && until > new Date(from) && (since === null || since < new Date(to)),
    );
    if (isCovered) return;
    const table = sql.table(name);
    await sql`create table ${table} (like webhook_attempts including all)`.execute(tx);
    await sql`with moved as (delete from ${sql.table(DEFAULT)} where at >= ${from} and at < ${to} returning *)
      insert into ${table} select * from moved`.execute(tx);
    await sql`alter table webhook_attempts attach partition ${table}
      for values from (${sql.lit(from)}) to (${sql.lit(to)})`.execute(tx);
  });
}

/**
 * Drops partitions in which every attempt is older than `before`, and deletes older attempts from the default
 * partition. Returns the names of the dropped partitions.
 */
export async function dropPartitions(db: Db, before: Date): Promise<string[]> {
  const old = (await listPartitions(db)).filter(({ until }) => until !== null && until <= before);
  for (const { name } of old)
    await db.transaction().execute(async (tx) => {
      await sql`${LOCK_TIMEOUT}`.execute(tx);
      await sql`drop table if exists ${sql.table(name)}`.execute(tx);
    });
  // No index covers this condition, but the default partition is almost always empty.
  await deleteInBatches(db, DEFAULT, sql`at < ${before}`);
  return old.map(({ name }) => name);
}

/**
 * Returns the partitions, each with its range. The first partition has no start (null), and the default partition has
 * neither a start nor an end.
 */
export async function listPartitions(
  db: Db,
): Promise<{ name: string; since: Date | null; until: Date | null }[]> {
  const { rows } = await sql<{ name: string; since: string | null; until: string | null }>`
    select name, substring(bound from 'FROM \\(''([^'']+)''\\)') as since,
      substring(bound from 'TO \\(''([^'']+)''\\)') as until
    from (select c.relname as name, pg_get_expr(c.relpartbound, c.oid) as bound
      from pg_inherits i join pg_class c on c.oid = i.inhrelid
      where i.inhparent = 'webhook_attempts'::regclass) as partitions order by name`.execute(db);
  const toDate = (text: string | null) => (text === null ? null : new Date(text));
  return rows.map(({ name, since, until }) => ({ name, since: toDate(since), until: toDate(until) }));
}
