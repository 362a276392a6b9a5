import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Postgres, startPostgres } from '@causeway/sandbox/postgres/server.ts';
import { bundleFile } from '../../bin/bundle.mjs';
import { buildContext, type ComposedContext } from '../../src/compose.ts';
import { loadConfig } from '../../src/kernel/config/config.ts';
import { createLog } from '../../src/kernel/log.ts';
import type { Offer } from '../../src/platform/context/ports.ts';
import { migrate } from '../../src/platform/db/migrate.ts';
import { openPool } from '../../src/platform/db/pool.ts';
import { makeOffer } from '../support/offers.ts';
import type { TortureChain } from './chain.ts';

const NODE = fileURLToPath(new URL('./node.ts', import.meta.url));
const SECRET = Buffer.alloc(32, 5).toString('base64');

export type ServiceNode = { url: string | null; kill(): void; restart(): Promise<void> };

export type Environment = {
  chain: TortureChain;
  offer: Offer;
  /** The test's own context, with its own database connections. */
  built: ComposedContext;
  nodes: ServiceNode[];
  killDatabase(): Promise<void>;
  close(): Promise<void>;
};

/** Starts PostgreSQL and two service processes on a chain. */
export async function startEnvironment(chain: TortureChain): Promise<Environment> {
  const dataDir = await mkdtemp(join(tmpdir(), 'causeway-torture-'));
  let database: Postgres = await startPostgres({ dataDir, log: () => undefined });
  const { pool, close } = openPool(database.url, { max: 1 });
  await migrate(pool);
  await close();
  const variables = {
    CAUSEWAY_DATA: dataDir,
    CAUSEWAY_SECRET: SECRET,
    DATABASE_URL: database.url,
    RATE_LIMIT_API: '1000000',
    ...chain.variables,
  };
  const log = createLog({ level: 'silent', pretty: false });
  const config = loadConfig(variables);
  const built = await buildContext({ config, baseUrl: 'http://127.0.0.1', databaseUrl: database.url, log });
  const offer = await makeOffer(built.ctx, chain.offerFile);
  // Uses a bundle, because every restart after a kill loads the code again, and a bundle loads many times
  // faster than the sources.
  const file = await bundleFile(NODE);
  const nodes = await Promise.all([startNode(file, variables), startNode(file, variables)]);
  return {
    ...{ chain, offer, built, nodes },
    killDatabase: async () => {
      const lock = await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8');
      process.kill(Number(lock.split('\n')[0]), 'SIGKILL');
      await database.exited;
      database = await startPostgres({ dataDir, log: () => undefined });
    },
    close: async () => {
      for (const node of nodes) node.kill();
      await built.close().catch(() => undefined);
      await database.stop();
      await chain.close();
      for (const folder of [dataDir, dirname(file)]) await rm(folder, { recursive: true, force: true });
    },
  };
}

async function startNode(file: string, variables: Record<string, string>): Promise<ServiceNode> {
  const node: ServiceNode = { url: null, kill: () => undefined, restart: async () => undefined };
  let spare = loadNode(file, variables);
  node.restart = async () => {
    // If the database is down, a starting process exits and must be started again.
    for (node.url = null; node.url === null; ) {
      const child = await spare;
      spare = loadNode(file, variables);
      node.kill = () => {
        node.url = null;
        child.kill('SIGKILL');
      };
      const started = nextMessage(child);
      child.send('start');
      node.url = (await started)?.url ?? null;
    }
  };
  await node.restart();
  return node;
}

/**
 * Starts a process that loads its code and then waits for the start message. The new process exits when this one exits.
 */
async function loadNode(file: string, variables: Record<string, string>): Promise<ChildProcess> {
  const child = fork(file, {
    env: { ...process.env, ...variables },
    execArgv: [],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  await nextMessage(child);
  return child;
}

/** Returns the next message from a child process, or null if the process exits. */
async function nextMessage(child: ChildProcess): Promise<{ url?: string } | null> {
  const message = once(child, 'message').then(([data]) => data as { url?: string });
  const exit = once(child, 'exit').then(() => null);
  return Promise.race([message, exit]);
}
