import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildContext, type ComposedContext } from '../../src/compose.ts';
import { loadConfig } from '../../src/config.ts';
import { type Embedded, startEmbedded } from '../../src/db/embedded.ts';
import { migrate } from '../../src/db/migrate.ts';
import { openPool } from '../../src/db/pool.ts';
import { createLog } from '../../src/log.ts';
import type { Offer } from '../../src/offers/catalogue.ts';
import { deriveSandboxKey } from '../../src/operator/sandbox-keys.ts';
import { startTestChain, type TestChain, type TestNode } from '../support/chain.ts';
import { makeOffer } from '../support/offers.ts';
import { saleOfferFile } from '../support/sale.ts';

const NODE = fileURLToPath(new URL('./node.ts', import.meta.url));
const SECRET = Buffer.alloc(32, 5).toString('base64');

export type ServiceNode = { url: string | null; kill(): void; restart(): Promise<void> };

export type World = {
  chain: TestChain;
  rpc: TestNode;
  offer: Offer;
  /** The torturer's own view of the database. */
  built: ComposedContext;
  nodes: ServiceNode[];
  killDatabase(): Promise<void>;
  close(): Promise<void>;
};

/** A real PostgreSQL, an embedded chain and two processes of the service. */
export async function openWorld(): Promise<World> {
  const dataDir = await mkdtemp(join(tmpdir(), 'causeway-torture-'));
  let database: Embedded = await startEmbedded({ dataDir, log: () => undefined });
  const { pool, close } = openPool(database.url, { max: 1 });
  await migrate(pool);
  await close();
  const chain = await startTestChain();
  const rpc = await chain.addNode();
  const environment = {
    CAUSEWAY_DATA: dataDir,
    CAUSEWAY_SECRET: SECRET,
    DATABASE_URL: database.url,
    RPC_URL_ETHEREUM_SEPOLIA: rpc.url,
    OPERATOR_KEY: deriveSandboxKey('operator'),
    RATE_LIMIT_API: '1000000',
  };
  const log = createLog({ level: 'silent', pretty: false });
  const config = loadConfig(environment);
  const built = await buildContext({ config, baseUrl: 'http://127.0.0.1', databaseUrl: database.url, log });
  const offer = await makeOffer(built.ctx, saleOfferFile(chain.deployment));
  const nodes = await Promise.all([startNode(environment), startNode(environment)]);
  return {
    ...{ chain, rpc, offer, built, nodes },
    killDatabase: async () => {
      const lock = await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8');
      process.kill(Number(lock.split('\n')[0]), 'SIGKILL');
      await database.exited;
      database = await startEmbedded({ dataDir, log: () => undefined });
    },
    close: async () => {
      for (const node of nodes) node.kill();
      await built.close().catch(() => undefined);
      await database.stop();
      await chain.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

async function startNode(environment: Record<string, string>): Promise<ServiceNode> {
  const node: ServiceNode = { url: null, kill: () => undefined, restart: async () => undefined };
  let spare = loadNode(environment);
  node.restart = async () => {
    // It may meet the database while that is being killed, and then has to be started once more.
    for (node.url = null; node.url === null; ) {
      const child = await spare;
      spare = loadNode(environment);
      node.kill = () => {
        node.url = null;
        child.kill('SIGKILL');
      };
      const answer = messageOf(child);
      child.send('start');
      node.url = (await answer)?.url ?? null;
    }
  };
  await node.restart();
  return node;
}

/** A process that has loaded its code and waits for the word. It ends with this one. */
async function loadNode(environment: Record<string, string>): Promise<ChildProcess> {
  const child = fork(NODE, {
    env: { ...process.env, ...environment },
    execArgv: ['--import', 'tsx'],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  await messageOf(child);
  return child;
}

async function messageOf(child: ChildProcess): Promise<{ url?: string } | null> {
  const said = once(child, 'message').then(([message]) => message as { url?: string });
  const gone = once(child, 'exit').then(() => null);
  return Promise.race([said, gone]);
}
