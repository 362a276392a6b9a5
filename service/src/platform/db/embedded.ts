import { existsSync } from 'node:fs';
import { mkdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { findPackage, locateBinaries, sharedFolders } from './embedded-binaries.ts';
import { type Cluster, ensureCluster } from './embedded-cluster.ts';
import { endOrphans, findHolder, releaseCluster } from './embedded-postmaster.ts';
import { launchServer, type Server } from './embedded-server.ts';
import { removeSocketLink, socketFolder, socketUrl } from './embedded-socket.ts';
import { chooseServerUser } from './embedded-user.ts';

export interface EmbeddedOptions {
  dataDir: string;
  log: (message: string) => void;
  /**
   * Overrides server settings. Used only by tests, for example to turn off `fsync`: test data need not survive a crash.
   */
  settings?: Readonly<Record<string, string>>;
}

export interface Embedded {
  /**
   * The URL that connects to the database `causeway` as the database's owner. The URL works in any process of the same
   * user on this machine.
   */
  url: string;
  /**
   * Stops the server and resolves when it has exited. After `forceAfterMs`, stops it without a checkpoint: the next
   * start then replays the WAL.
   */
  stop(forceAfterMs?: number): Promise<void>;
  /** Resolves when the server has exited, for whatever reason. */
  exited: Promise<void>;
}

const DATABASE = 'causeway';
const LINK_INTERVAL_MS = 600_000;
const MAX_START_ATTEMPTS = 100;

/** Starts an embedded PostgreSQL in `<dataDir>/postgres`; see docs/decisions/0002-embedded-postgres.md. */
export async function startEmbedded(options: EmbeddedOptions): Promise<Embedded> {
  const { log } = options;
  const dir = await clusterDir(options.dataDir);
  const user = await chooseServerUser(dir);
  const copyTo = user ? sharedFolders() : [join(dir, '..')];
  const bin = await locateBinaries({ user, native: findPackage(), copyTo });
  const cluster: Cluster = { bin, dir, user, settings: options.settings ?? {} };
  await ensureCluster(cluster, log);
  const server = await startServer(cluster, log);
  try {
    await ensureDatabase(await socketUrl(dir, 'postgres'));
    return embeddedServer(server, await socketUrl(dir, DATABASE), dir);
  } catch (error) {
    await server.stop();
    throw error;
  }
}

/**
 * Returns the URL of the server that another Causeway process runs in this data folder, or undefined if there is none.
 */
export async function findEmbedded(dataDir: string): Promise<string | undefined> {
  const dir = await clusterDir(dataDir);
  const holder = await findHolder(dir);
  return holder.kind === 'server' && holder.owner !== undefined ? socketUrl(dir, DATABASE) : undefined;
}

/**
 * Returns the URL of the database in `dataDir`, or undefined if there is no database yet. If no running service has
 * started the server, starts it, and `stop` stops it again.
 */
export async function openEmbedded(dataDir: string): Promise<Pick<Embedded, 'url' | 'stop'> | undefined> {
  const running = await findEmbedded(dataDir);
  if (running !== undefined) return { url: running, stop: async () => undefined };
  if (!existsSync(join(await clusterDir(dataDir), 'PG_VERSION'))) return undefined;
  return startEmbedded({ dataDir, log: () => undefined });
}

async function clusterDir(dataDir: string): Promise<string> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  return join(await realpath(dataDir), 'postgres');
}

async function startServer(cluster: Cluster, log: (message: string) => void): Promise<Server> {
  for (let attempt = 1; ; attempt++) {
    await releaseCluster(cluster.dir, log);
    const result = await launchServer(cluster, log);
    if ('server' in result) return result.server;
    // Retries if something still holds the folder. If another process is starting the server, the next call to
    // `releaseCluster` throws an error about that process. If processes of a killed server still hold its shared
    // memory, they will exit soon.
    const isHeld = /lock file "[^"]*" (already exists|is empty)|pre-existing shared memory/.test(
      result.failure,
    );
    if (!isHeld || attempt === MAX_START_ATTEMPTS)
      throw new Error(`PostgreSQL did not start in ${cluster.dir}: ${result.failure}`);
    if (result.failure.includes('pre-existing shared memory')) await endOrphans(cluster.dir);
    await sleep(150);
  }
}

async function ensureDatabase(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  await client.connect();
  try {
    const { rowCount } = await client.query('select from pg_database where datname = $1', [DATABASE]);
    if (rowCount === 0) await client.query(`create database ${DATABASE}`);
  } finally {
    await client.end();
  }
}

function embeddedServer(server: Server, url: string, dir: string): Embedded {
  // If the path of the cluster is too long for a socket, clients use a short link in the folder for temporary files. A
  // cleanup may remove the link, so it is recreated regularly.
  const keepLink = setInterval(() => void socketFolder(dir).catch(() => undefined), LINK_INTERVAL_MS);
  keepLink.unref();
  return {
    url,
    exited: server.exited,
    async stop(forceAfterMs) {
      clearInterval(keepLink);
      await server.stop(forceAfterMs);
      await removeSocketLink(dir);
    },
  };
}
