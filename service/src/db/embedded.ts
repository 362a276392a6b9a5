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
  /** Server settings over ours. Only the test harness passes some: its data need not survive. */
  settings?: Readonly<Record<string, string>>;
}

export interface Embedded {
  /** Of the database `causeway`, as its owner. Valid in any process of the same user on this machine. */
  url: string;
  /** Fast shutdown; resolves when the server is gone. */
  stop(): Promise<void>;
  /** Resolves when the server is gone, asked or not. */
  exited: Promise<void>;
}

const database = 'causeway';

/** Starts a PostgreSQL of our own in `<dataDir>/postgres`. docs/decisions/0002-embedded-postgres.md says how and why. */
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
    return embeddedServer(server, await socketUrl(dir, database), dir);
  } catch (error) {
    await server.stop();
    throw error;
  }
}

/** The url of the server that another Causeway process runs on this data at the moment. */
export async function findEmbedded(dataDir: string): Promise<string | undefined> {
  const dir = await clusterDir(dataDir);
  const holder = await findHolder(dir);
  return holder.kind === 'server' && holder.owner !== undefined ? socketUrl(dir, database) : undefined;
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
    // Either another start is ahead of us, which the next round names, or processes of a killed server still hold
    // its memory and are about to leave.
    const held = /lock file "[^"]*" (already exists|is empty)|pre-existing shared memory/.test(
      result.failure,
    );
    if (!held || attempt === 100)
      throw new Error(`PostgreSQL did not start in ${cluster.dir}: ${result.failure}`);
    if (result.failure.includes('pre-existing shared memory')) await endOrphans(cluster.dir);
    await sleep(150);
  }
}

async function ensureDatabase(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  await client.connect();
  try {
    const { rowCount } = await client.query('select from pg_database where datname = $1', [database]);
    if (rowCount === 0) await client.query(`create database ${database}`);
  } finally {
    await client.end();
  }
}

function embeddedServer(server: Server, url: string, dir: string): Embedded {
  // Where a short link stands in for a long path, a cleaner of old temporary files may remove it.
  const keepLink = setInterval(() => void socketFolder(dir).catch(() => undefined), 600_000);
  keepLink.unref();
  return {
    url,
    exited: server.exited,
    async stop() {
      clearInterval(keepLink);
      await server.stop();
      await removeSocketLink(dir);
    },
  };
}
