import { isIP } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type pg from 'pg';
import { realTime } from '../../kernel/clock.ts';
import { isLoopback } from '../../kernel/loopback.ts';
import { NODE_LOCK_CLASS } from './node.ts';

/**
 * A larger difference is a fault: leases and expiry times follow the database's clock, codes from authenticator apps and
 * signed timestamps follow the node's clock, and providers refuse requests whose timestamp is off by a minute.
 */
export const MAX_CLOCK_OFFSET_MS = 20_000;

/** What `causeway doctor` needs to know about the database server and the connection to it. */
export type ServerFacts = {
  /** As in `server_version_num`: 180004 for 18.4. */
  version: number;
  /** As returned by `readClockOffset`. */
  clockOffsetMs: number;
  /** How many connections the server accepts from ordinary roles, and how many are open. */
  connections: { max: number; used: number };
  /** How many running nodes use this database. */
  nodes: number;
  encryption: 'verified' | 'unverified' | 'none';
  /** Whether the connection stays on this machine. */
  isLocal: boolean;
};

type Row = { version: number; max: number; used: number; nodes: number };

export async function readServerFacts(pool: pg.Pool): Promise<ServerFacts> {
  const client = await pool.connect();
  try {
    const { rows } = await client.query<Row>(
      `select current_setting('server_version_num')::int as version,
         current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
           - coalesce(current_setting('reserved_connections', true)::int, 0) as max,
         (select count(*)::int from pg_stat_activity where backend_type = 'client backend') as used,
         (select count(distinct objid)::int from pg_locks where locktype = 'advisory' and classid = $1 and granted
           and database = (select oid from pg_database where datname = current_database())) as nodes`,
      [NODE_LOCK_CLASS],
    );
    const [row] = rows;
    if (row === undefined) throw new Error('the query for the server facts returned no row');
    const { version, max, used, nodes } = row;
    const clockOffsetMs = await readClockOffset(client);
    return { version, clockOffsetMs, connections: { max, used }, nodes, ...describeSocket(client) };
  } finally {
    client.release();
  }
}

function describeSocket(client: pg.PoolClient): Pick<ServerFacts, 'encryption' | 'isLocal'> {
  const { stream } = (client as unknown as { connection: { stream: TLSSocket } }).connection;
  const address = stream.remoteAddress ?? '';
  const isLocal = isIP(address) === 0 || isLoopback(address);
  if (stream.encrypted !== true) return { encryption: 'none', isLocal };
  return { encryption: stream.authorized ? 'verified' : 'unverified', isLocal };
}

/**
 * Returns the difference between the database's clock and this machine's clock, in milliseconds. Positive if the
 * database's clock is ahead.
 */
export async function readClockOffset(pool: Pick<pg.Pool, 'query'>): Promise<number> {
  const startedAt = performance.now();
  const { rows } = await pool.query<{ now_ms: number }>(
    'select extract(epoch from clock_timestamp())::float8 * 1000 as now_ms',
  );
  const [row] = rows;
  if (row === undefined) throw new Error('the query for the clock returned no row');
  return row.now_ms - (realTime() - (performance.now() - startedAt) / 2);
}

/** Throws if the clocks of the database and this machine differ by more than `MAX_CLOCK_OFFSET_MS`. */
export async function assertClock(pool: Pick<pg.Pool, 'query'>): Promise<void> {
  const offsetMs = await readClockOffset(pool);
  if (Math.abs(offsetMs) > MAX_CLOCK_OFFSET_MS)
    throw new Error(`the clock of the database is off by ${Math.round(offsetMs / 1000)} s`);
}
