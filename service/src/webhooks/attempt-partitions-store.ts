import { sql } from 'kysely';
import type { Db } from '../db/pool.ts';

const DEFAULT = 'webhook_attempts_default';
/**
 * A short lock timeout: while a statement waits for a lock on the table, all later statements wait behind it. After a
 * timeout, housekeeping tries again later.
 */
const LOCK_TIMEOUT = sql.raw("set local lock_timeout = '2s'");

/** Creates the partition for the month from `from` to `to`, unless it exists. */
export async function createPartition(db: Db, from: string, to: string): Promise<void> {
  const name = `webhook_attempts_${from.slice(0, 7).replace('-', '_')}`;
  await db.transaction().execute(async (tx) => {
    await sql`${LOCK_TIMEOUT}`.execute(tx);
    await sql`select pg_advisory_xact_lock(hashtext('webhook_attempts partitions'))`.execute(tx);
    const covered = (await listPartitions(tx)).some(({ until }) => until !== null && until >= new Date(to));
    if (covered) return;
    const table = sql.table(name);
    await sql`create table ${table} (like webhook_attempts including all)`.execute(tx);
    await sql`with moved as (delete from ${sql.table(DEFAULT)} where at >= ${from} and at < ${to} returning *)
      insert into ${table} select * from moved`.execute(tx);
    await sql`alter table webhook_attempts attach partition ${table}
      for values from (${sql.lit(from)}) to (${sql.lit(to)})`.execute(tx);
  });
}

/** Drops the partitions that only have attempts from before `before`. Returns their names. */
export async function dropPartitions(db: Db, before: Date): Promise<string[]> {
  const old = (await listPartitions(db)).filter(({ until }) => until !== null && until <= before);
  for (const { name } of old)
    await db.transaction().execute(async (tx) => {
      await sql`${LOCK_TIMEOUT}`.execute(tx);
      await sql`drop table if exists ${sql.table(name)}`.execute(tx);
    });
  return old.map(({ name }) => name);
}

/** Returns the partitions, each with the end of its range. The default partition has no end (null). */
export async function listPartitions(db: Db): Promise<{ name: string; until: Date | null }[]> {
  const { rows } = await sql<{ name: string; until: string | null }>`
    select c.relname as name, substring(pg_get_expr(c.relpartbound, c.oid) from 'TO \\(''([^'']+)''\\)') as until
    from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'webhook_attempts'::regclass order by c.relname`.execute(db);
  return rows.map(({ name, until }) => ({ name, until: until === null ? null : new Date(until) }));
}
