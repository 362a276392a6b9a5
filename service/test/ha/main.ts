import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { generatePrivateKey } from 'viem/accounts';
import { freePort } from '../../src/http/free-port.ts';
import { insertUser, startRollingSale } from '../rolling/investors.ts';
import { startProxy } from '../rolling/proxies.ts';
import { installDebianPackages } from '../support/packages.ts';
import { productionSettings } from '../support/service.ts';
import { findLosses } from './acknowledged.ts';
import { type Cluster, type Server, startCluster, waitFor } from './cluster.ts';
import { failOverAsynchronously, loseCommits, restoreDump } from './losses.ts';
import { startMarket } from './market.ts';
import { createNodes } from './nodes.ts';
import { type Stream, startStream } from './stream.ts';

// Three nodes on a Patroni cluster, behind HAProxy. Investors invest, traders place orders and users bind wallets while the
// primary is switched, killed, cut off or frozen. Everything acknowledged must be stored and on chain. Then commits are
// lost on purpose, by restoring a dump and by asynchronous replication: settlement must stop, and `operator reconcile`
// must repair the database. `--full` also freezes the primary, and repeats every failover three times.
const { values } = parseArgs({ options: { full: { type: 'boolean', default: false } } });
const PACKAGES = ['patroni', 'python3-etcd', 'etcd-server', 'haproxy', 'postgresql', 'iproute2'];
const [INVESTORS, TRADERS, USERS] = [3, 2, values.full ? 2_000 : 200];
/** How much each kind of client must get done after a failover before the next one, so that each interrupts work. */
const WORK = 2;

const startedAt = performance.now();
const secondsSince = (time: number) => ((performance.now() - time) / 1000).toFixed(1);
const reason = installDebianPackages(PACKAGES);
if (reason !== null) {
  console.error(`NOT PROVEN: ${reason}`);
  process.exit(1);
}
const folder = await mkdtemp(join(tmpdir(), 'causeway-ha-'));
await chmod(folder, 0o755);
const stops: (() => unknown)[] = [];
let problems: string[] = ['the run did not finish'];
try {
  problems = await run();
} catch (error) {
  console.error(error);
} finally {
  for (const stop of stops) await stop();
  if (problems.length === 0) await rm(folder, { recursive: true, force: true });
}
for (const problem of problems) console.error(`PROBLEM ${problem}`);
console.log(
  problems.length === 0 ? `nothing was lost (${secondsSince(startedAt)} s)` : `the logs are in ${folder}`,
);
process.exit(problems.length === 0 ? 0 : 1);

async function run(): Promise<string[]> {
  const cluster = await startCluster(folder);
  stops.unshift(cluster.close);
  const operatorKey = generatePrivateKey();
  const sale = await startRollingSale([operatorKey]);
  stops.unshift(() => sale.close());
  const market = await startMarket(sale, operatorKey, folder);
  stops.unshift(() => market.close());
  await cluster.waitUntilReady();
  console.log(`a cluster of three servers after ${secondsSince(startedAt)} s`);

  const settings: Record<string, string> = {
    ...productionSettings(cluster.url),
    ...Object.fromEntries(
      ['API', 'WALLET_OWNERSHIP', 'TOKENIZED_TRANSACTION'].map((name) => [`RATE_LIMIT_${name}`, '1000000']),
    ),
    // A busy machine must not shed load here: this is about failovers.
    ...{ MAX_EVENT_LOOP_LAG_MS: '30000', MAX_POOL_WAIT_MS: '30000' },
    ...{ CAUSEWAY_DATA: folder, TRUST_PROXY: 'loopback', LOG_LEVEL: 'info' },
    ...{ OPERATOR_KEY: operatorKey, RPC_URL_ETHEREUM_SEPOLIA: sale.rpcUrl },
    ...market.settings,
  };
  const nodes = await createNodes(settings, [cluster.url, cluster.url, cluster.hostsUrl]);
  await nodes.start();
  stops.unshift(() => nodes.stop());
  const redirect = ['--redirect', 'https://app.example/callback'];
  const created = await nodes.command('partner', 'create', '--name', 'Partner', ...redirect);
  const { client_id } = JSON.parse(created) as { client_id: string };
  for (const [slug, file] of [
    ['harbour-sale', await sale.writeOffer(folder, client_id, { open_to_anyone: true })],
    ['apple', await market.writeOffer(client_id)],
  ] as const) {
    await nodes.command('offer', 'apply', file, '--yes');
    await nodes.command('offer', 'publish', slug);
  }
  const people = {
    investors: await sale.addInvestors(cluster.url, client_id, INVESTORS),
    traders: await sale.addInvestors(cluster.url, client_id, TRADERS),
    users: await addUsers(cluster, client_id),
  };
  const proxy = await startProxy('HAProxy', folder, await freePort(), nodes.ports);
  stops.unshift(proxy.stop);
  console.log(`three nodes after ${secondsSince(startedAt)} s`);

  const stream = startStream(proxy.url, sale, market, people);
  await waitForWork(stream);
  const steps = Object.entries(failovers(cluster, stream));
  for (const [name, step] of values.full ? [...steps, ...steps, ...steps] : steps.slice(0, -1)) {
    await cluster.waitForStandbys();
    const primary = await cluster.waitForPrimary();
    const before = performance.now();
    await step(primary);
    await cluster.waitForPrimary();
    await waitForWork(stream);
    console.log(`${name}: work went on after ${secondsSince(before)} s`);
  }
  await stream.stop();
  const { acknowledged, load } = stream;
  const { participations, bindings, orders } = acknowledged;
  const found = [...load.failures, ...(await findLosses(cluster.url, sale, acknowledged))];
  if (orders.length === 0) found.push('no order was executed');
  await nodes.command('operator', 'reconcile', '--report');
  console.log(
    `acknowledged, stored and on chain: ${participations.length} participations, ${bindings.length} wallets, ${orders.length} orders (${load.requests} requests)`,
  );
  const parts = { cluster, sale, nodes, url: proxy.url };
  await cluster.waitForStandbys();
  for (const loss of [
    restoreDump(parts, folder),
    failOverAsynchronously(parts, await cluster.waitForPrimary()),
  ])
    found.push(...(await loseCommits(parts, people.investors, loss)));
  if (!nodes.areRunning()) found.push('a node has exited');
  return found;
}

/** The ways to lose a primary. Each leaves three servers behind. */
function failovers(cluster: Cluster, stream: Stream): Record<string, (primary: Server) => Promise<void>> {
  return {
    switchover: (primary) => cluster.switchOver(primary),
    'kill -9': async (primary) => {
      primary.signal('SIGKILL');
      await cluster.waitForPrimary(primary);
      primary.start();
    },
    'network partition': async (primary) => {
      primary.disconnect();
      await cluster.waitForPrimary(primary);
      await waitForWork(stream);
      primary.reconnect();
    },
    // Like a partition for everyone else, so the short run leaves it out.
    'frozen primary': async (primary) => {
      primary.signal('SIGSTOP');
      await cluster.waitForPrimary(primary);
      await waitForWork(stream);
      // The watchdog resets the machine.
      primary.signal('SIGKILL');
      primary.start();
    },
  };
}

async function addUsers(cluster: Cluster, clientId: string) {
  const users = [];
  for (let n = 0; n < USERS; n += 20)
    users.push(...(await Promise.all(Array.from({ length: 20 }, () => insertUser(cluster.url, clientId)))));
  return users;
}

async function waitForWork({ acknowledged: { participations, bindings } }: Stream): Promise<void> {
  const [first, second] = [participations.length + WORK, bindings.length + WORK];
  await waitFor('acknowledged requests', async () =>
    participations.length >= first && bindings.length >= second ? true : null,
  );
}
