import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startPostgres } from '@causeway/sandbox/postgres/server.ts';
import { generatePrivateKey } from 'viem/accounts';
import { freePort } from '../../src/platform/http/listening.ts';
import { productionSettings, runCauseway, type Service, startService } from '../support/service.ts';
import { createRoles, forbidSignIn, hasOpenTransaction, withRole } from './database-roles.ts';
import { investing, startRollingSale } from './investors.ts';
import { type Callers, sendLoad } from './load.ts';
import { installProxies, PROXIES, startProxy } from './proxies.ts';
import { seedDatabase } from './seed-database.ts';
import { type Subscriber, startSubscriber } from './subscriber.ts';

// Restarts three nodes one by one behind nginx and HAProxy. Rotates the secrets, the keys and the database role at the
// same time. Investors bind wallets and invest, and a partner receives webhooks. No request may fail, no webhook may be
// lost, and every participation must be settled.
const reason = installProxies();
if (reason !== null) {
  console.log(`rolling restart skipped: ${reason}`);
  process.exit(0);
}

const folder = await mkdtemp(join(tmpdir(), 'causeway-rolling-'));
const database = await startPostgres({ dataDir: join(folder, 'data'), log: () => undefined });
const partner = await seedDatabase(database.url);
const [firstRole, secondRole] = await createRoles(database.url);
const newSecret = () => randomBytes(32).toString('base64');
const [older, newer] = [newSecret(), newSecret()];
const [firstKey, secondKey] = [generatePrivateKey(), generatePrivateKey()];
const callers: Callers = {
  ...{ credentials: [partner], identitySecret: 'first', documentsSecret: 'first' },
};
const sale = await startRollingSale([firstKey, secondKey]);
const INVESTORS = 3;
const MAX_SHOWN = 10;

let settings: Record<string, string> = {
  ...productionSettings(withRole(database.url, firstRole)),
  ...Object.fromEntries(
    ['API', 'OAUTH_TOKEN', 'SIGN_IN', 'WALLET_OWNERSHIP', 'WEBHOOK_TEST'].map((name) => [
      `RATE_LIMIT_${name}`,
      '1000000',
    ]),
  ),
  CAUSEWAY_DATA: folder,
  // Even a busy machine must not shed load here, because this test is about restarts.
  ...{ MAX_EVENT_LOOP_LAG_MS: '30000', MAX_POOL_WAIT_MS: '30000' },
  CAUSEWAY_SECRET: older,
  SUMSUB_WEBHOOK_SECRET: callers.identitySecret,
  DOCUSEAL_WEBHOOK_SECRET: callers.documentsSecret,
  OPERATOR_KEY: firstKey,
  RPC_URL_ETHEREUM_SEPOLIA: sale.rpcUrl,
  WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
  TRUST_PROXY: 'loopback',
  LOG_LEVEL: 'info',
};

const ports = [await freePort(), await freePort(), await freePort()];
const startNode = (port: number) => startService({ ...settings, PORT: String(port) });
let nodes: Service[] = [];

/** Restarts the nodes one by one. Before each restart, the proxy has time to notice that the previous node is back. */
async function restartAll(changes: Record<string, string>): Promise<void> {
  settings = { ...settings, ...changes };
  for (const [i, port] of ports.entries()) {
    const code = await nodes[i]?.stop();
    if (code !== 0) throw new Error(`node ${i} exited with ${code}`);
    nodes[i] = await startNode(port);
    await sleep(1_200);
  }
}

async function command(...args: string[]): Promise<string> {
  const { code, text } = await runCauseway(args, settings);
  if (code !== 0) throw new Error(`causeway ${args.join(' ')}: ${text}`);
  return text;
}

/** Stops mining at a moment when a transaction of the operator key is not confirmed yet. */
async function stopBlocksOverTransaction(): Promise<void> {
  for (;;) {
    sale.pauseMining();
    await sleep(2_000);
    if (await hasOpenTransaction(database.url)) return;
    sale.resumeMining();
    await sleep(500);
  }
}

/** The steps to take while each proxy is in use. Together, they follow the documented order of each rotation. */
const stepsWith = (subscriber: Subscriber): Record<keyof typeof PROXIES, () => Promise<void>> => ({
  nginx: async () => {
    const { client_id } = partner;
    const rotated = await command('partner', 'rotate-secret', client_id, '--grace-hours', '1');
    callers.credentials.push(JSON.parse(rotated));
    await subscriber.rotateSecret();
    await restartAll({
      CAUSEWAY_SECRET: `${older},${newer}`,
      ...{ SUMSUB_WEBHOOK_SECRET: 'first,second', DOCUSEAL_WEBHOOK_SECRET: 'first,second' },
    });
  },
  'nginx with keepalive': async () => {
    callers.identitySecret = 'second';
    callers.documentsSecret = 'second';
    subscriber.useNewSecret();
    await restartAll({
      CAUSEWAY_SECRET: `${newer},${older}`,
      ...{ SUMSUB_WEBHOOK_SECRET: 'second', DOCUSEAL_WEBHOOK_SECRET: 'second' },
    });
    await command('keys', 'rotate');
    await command('keys', 'rotate-signing');
  },
  HAProxy: async () => {
    await stopBlocksOverTransaction();
    await restartAll({ CAUSEWAY_SECRET: newer, OPERATOR_KEY: secondKey, OPERATOR_RETIRED_KEYS: firstKey });
    sale.resumeMining();
  },
  'HAProxy with late checks': async () => {
    await restartAll({ DATABASE_URL: withRole(database.url, secondRole) });
    await forbidSignIn(database.url, firstRole);
  },
  'HAProxy without checks': async () => {
    await restartAll({ SUMSUB_APP_TOKEN: 'prd:new', SUMSUB_SECRET: 'new', DOCUSEAL_API_KEY: 'new' });
  },
});

let failed = 0;
let subscriber: Subscriber | undefined;
try {
  nodes = await Promise.all(ports.map(startNode));
  const started = await startSubscriber(`http://127.0.0.1:${ports[0]}`, partner);
  subscriber = started;
  const steps = stepsWith(started);
  const offer = await sale.writeOffer(folder, partner.client_id, { open_to_anyone: true });
  await command('offer', 'apply', offer, '--yes');
  await command('offer', 'publish', 'harbour-sale');
  const invest = investing(sale, await sale.addInvestors(database.url, partner.client_id, INVESTORS));
  for (const name of Object.keys(PROXIES) as (keyof typeof PROXIES)[]) {
    const proxy = await startProxy(name, folder, await freePort(), ports);
    const { requests, failures, settled } = await sendLoad(proxy.url, callers, steps[name](), (...load) =>
      Promise.all([invest(...load), started.receiving(...load)]),
    );
    await proxy.stop();
    failed += failures.length;
    console.log(
      `${name}: ${requests} requests, ${failures.length} failed; ${settled} participations settled`,
    );
    for (const failure of failures.slice(0, MAX_SHOWN)) console.log(`  ${failure}`);
    if (failures.length > 0)
      for (const error of proxy.errors().slice(0, MAX_SHOWN)) console.log(`  ${name}: ${error}`);
  }
} finally {
  await Promise.all(nodes.map((node) => node.stop().catch(() => undefined)));
  await subscriber?.close();
  await sale.close();
  await database.stop();
  await rm(folder, { recursive: true, force: true });
}
process.exitCode = failed === 0 ? 0 : 1;
