import type { EventEmitter } from 'node:events';
import { Kysely } from 'kysely';
import pg from 'pg';
import { createFairQueue, type FairQueue } from '../../kernel/fair-queue.ts';
import { isId } from '../../kernel/ids.ts';
import { columnTypes } from './column-types.ts';
import { createStatementPool, shareDialect, type TransactionTags } from './dialect.ts';
import { followPrimary, openHosts, retryOnOtherHosts } from './hosts.ts';
import { createNotifier } from './notify.ts';
import type { Database } from './tables.ts';

export interface PoolOptions {
  /** Maximum number of connections. Default: 10. */
  max?: number;
  /** The name of this connection pool in `pg_stat_activity`. */
  applicationName?: string;
  /** Time limit per statement. Default: 10,000. */
  statementTimeoutMs?: number;
  /** Time limit for getting a connection, including the wait in the pool's queue. Default: 5,000. */
  connectionTimeoutMs?: number;
  log?: (message: string) => void;
  /** Called when the server has refused a statement because its disk is full. */
  onFullDisk?: () => void;
}

/** The database or a transaction. */
export type Db = Kysely<Database>;

export type Lane = Pick<OpenPool, 'db' | 'tagged'>;

export interface OpenPool {
  /** Connections for use without a lane (see `laneOf`). For LISTEN, use `listen.ts` instead. */
  pool: pg.Pool;
  db: Db;
  /** Returns the same database, but its transactions carry these tags for the audit log. */
  tagged(tags: TransactionTags): Db;
  /**
   * Returns the database for one lane, such as a partner or a client network. If all connections are in use, statements
   * wait in their lane, and the lanes take turns.
   */
  laneOf(lane: string): Lane;
  /** The queue in which statements and transactions wait for a connection. */
  queue: FairQueue;
  close(): Promise<void>;
}

const MAX_CACHED_LANES = 1_000;

/**
 * Returns the group of a lane. Each partner and the node itself have a group of their own. Anyone can add other lanes by
 * sending another OAuth client id or by using another network, so all of these together get only as many turns as one
 * partner.
 */
export function groupOfLane(lane: string): string {
  return lane === '' || isId(lane) ? lane : 'anonymous';
}

export function openPool(url: string, options: PoolOptions = {}): OpenPool {
  const statementTimeout = options.statementTimeoutMs ?? 10_000;
  const connectionTimeout = options.connectionTimeoutMs ?? 5_000;
  const max = options.max ?? 10;
  const hosts = openHosts(url);
  const pool = new pg.Pool({
    connectionString: url,
    ...followPrimary(hosts),
    max,
    application_name: options.applicationName ?? 'causeway',
    connectionTimeoutMillis: connectionTimeout,
    idleTimeoutMillis: 60_000,
    keepAlive: true,
    statement_timeout: statementTimeout,
    idle_in_transaction_session_timeout: 2 * statementTimeout,
    // Applies if the server has stopped responding. A working server cancels the statement earlier, after
    // `statement_timeout`.
    query_timeout: statementTimeout + 5_000,
    types: columnTypes,
    onConnect: prepareSession,
  });
  retryOnOtherHosts(pool, hosts);
  // Without this listener, losing an idle connection would end the process. The pool replaces the connection.
  pool.on('error', (error) => options.log?.(`database connection lost: ${error.message}`));
  // Likewise, losing a connection between two statements of a transaction must not end the process. The next
  // statement reports the error.
  pool.on('connect', (client) => void client.on('error', () => undefined));
  const { onFullDisk } = options;
  if (onFullDisk !== undefined) pool.on('connect', (client) => listenForFullDisk(client, onFullDisk));
  const queue = createFairQueue({
    concurrency: max,
    maxWaitMs: connectionTimeout,
    timeout: () => new Error('timeout exceeded when trying to connect'),
    groupOf: groupOfLane,
  });
  const notifier = createNotifier(pool);
  const connections = createStatementPool(pool, queue);
  const createLane = (lane: string): Lane => {
    const dialectOf = shareDialect(connections(lane), notifier);
    const tagged = (tags?: TransactionTags) => new Kysely<Database>({ dialect: dialectOf(tags) });
    return { db: tagged(), tagged };
  };
  const lanes = new Map<string, Lane>();
  const laneOf = (lane: string): Lane => {
    const known = lanes.get(lane);
    if (known !== undefined) return known;
    if (lanes.size >= MAX_CACHED_LANES) lanes.clear();
    const created = createLane(lane);
    lanes.set(lane, created);
    return created;
  };
  let closing: Promise<void> | undefined;
  return {
    pool,
    // The lane '' is for this node's own work.
    ...laneOf(''),
    laneOf,
    queue,
    close() {
      closing ??= notifier.idle().then(() => pool.end());
      return closing;
    },
  };
}

/**
 * Applies the settings that `column-types.ts` relies on, whatever the defaults of the server or the database role are.
 */
async function prepareSession(client: pg.ClientBase): Promise<void> {
  await client.query(`set timezone = 'UTC'; set datestyle = 'ISO'`);
}

const DISK_FULL = '53100';

/** Calls `handler` whenever the server reports a full disk on this connection, whatever the statement was. */
function listenForFullDisk(client: pg.ClientBase, handler: () => void): void {
  const { connection } = client as unknown as { connection: EventEmitter };
  connection.on('errorMessage', ({ code }: { code?: string }) => code === DISK_FULL && handler());
}

/**
 * Throws if the database's disk is full. Makes the server write a temporary file, because only a file that grows needs
 * space: small changes to a table fit into the pages that the table has.
 */
export async function assertDiskSpace(pool: pg.Pool): Promise<void> {
  try {
    await pool.query(`set local work_mem = '64kB'; select count(*) from generate_series(1, 20000)`);
  } catch (error) {
    if ((error as { code?: unknown }).code === DISK_FULL) throw error;
  }
}

/** Throws if the database does not respond. */
export async function pingDatabase(pool: pg.Pool): Promise<void> {
  await pool.query('select 1');
}
