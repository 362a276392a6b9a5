import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { generatePrivateKey } from 'viem/accounts';
import { freePort } from '../../src/platform/http/listening.ts';
import { insertUser, startRollingSale } from '../rolling/investors.ts';
import { startProxy } from '../rolling/proxies.ts';
import { installDebianPackages } from '../support/packages.ts';
import { productionSettings } from '../support/service.ts';
import { findLosses } from './acknowledged.ts';
import { type Cluster, type Server, startCluster, waitFor } from './cluster.ts';
import { loseCommits, losses } from './losses.ts';
import { startMarket } from './market.ts';
import { createNodes } from './nodes.ts';
import { createStream, type Stream } from './stream.ts';

// Runs three nodes on a Patroni cluster behind HAProxy. Investors invest, traders place orders and users bind wallets
// while the primary is switched, killed, cut off or frozen. After each failover, everything acknowledged must be stored
// and on chain.
//
// Then the database is made to lose its record of on-chain commits in three ways: a restored dump, a primary that
// resumes without a watchdog, and asynchronous replication. Each time, settlement must stop, and `operator reconcile`
// must repair the database.
//
// `--full` adds the failovers and losses that take longest, and runs every failover three times.
// `--only 'kill -9'` runs a single failover or loss.
const { values } = parseArgs({
  options: { full: { type: 'boolean', default: false }, only: { type: 'string', default: '' } },
});
const PACKAGES = ['patroni', 'python3-etcd', 'etcd-server', 'haproxy', 'postgresql', 'iproute2'];
const [INVESTORS, TRADERS] = [3, 2];
/**
 * How many new participations, and how many new bindings, must be acknowledged between two failovers, so that each
 * failover interrupts work.
 */
const WORK = 2;
/**
 * The failovers and losses that the short run leaves out. To nodes behind a proxy, a frozen primary looks like a
 * network partition, which the short run includes.
 */
const FULL_ONLY = /frozen primary|resumed primary/;

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
// Rejects on a signal, so that an interrupted run leaves no servers and no network behind.
const interrupted = new Promise<never>((_, reject) => {
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => reject(new Error(`received ${signal}`)));
});
try {
  problems = await Promise.race([run(), interrupted]);
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
    // Even a busy machine must not shed load here, because this test is about failovers.
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
    addUser: () => waitFor('a new user', () => insertUser(cluster.url, client_id)),
  };
  const proxy = await startProxy('HAProxy', folder, await freePort(), nodes.ports);
  stops.unshift(proxy.stop);
  console.log(`three nodes after ${secondsSince(startedAt)} s`);

  const stream = await createStream(proxy.url, sale, market, people);
  const { acknowledged, load } = stream;
  const { participations, bindings, orders } = acknowledged;
  const steps = select(failovers(cluster, stream));
  const found: string[] = [];
  if (steps.length + select(losses).length === 0) found.push(`no failover or loss is called ${values.only}`);
  for (const [name, step] of values.full ? [...steps, ...steps, ...steps] : steps) {
    await cluster.waitForStandbys();
    const primary = await cluster.waitForPrimary();
    stream.start();
    await waitForWork(stream);
    const before = performance.now();
    await step(primary);
    await cluster.waitForPrimary();
    await waitForWork(stream);
    const seconds = secondsSince(before);
    await stream.stop();
    const lost = [...load.failures.splice(0), ...(await findLosses(cluster.url, sale, acknowledged))];
    found.push(...lost.map((problem) => `${name}: ${problem}`));
    // Printed after every failover, so that even an interrupted run has proven something.
    console.log(
      `${name}: work went on after ${seconds} s; ${lost.length === 0 ? '' : 'NOT '}acknowledged, stored and on chain: ${participations.length} participations, ${bindings.length} wallets, ${orders.length} orders (${load.requests} requests)`,
    );
  }
  if (steps.length === 0) {
    stream.start();
    await waitForWork(stream);
    await stream.stop();
  } else if (orders.length === 0) found.push('no order was executed');
  await nodes.report();
  const parts = { cluster, sale, nodes, folder, url: proxy.url };
  for (const [name, cause] of select(losses)) {
    await cluster.waitForStandbys();
    const loss = cause(parts, await cluster.waitForPrimary());
    found.push(...(await loseCommits(parts, people.investors, name, loss)));
  }
  if (!nodes.areRunning()) found.push('a node has exited');
  return found;
}

/** Returns the failovers or losses that this run includes. */
function select<T>(all: Record<string, T>): [string, T][] {
  return Object.entries(all).filter(([name]) =>
    values.only === '' ? values.full || !FULL_ONLY.test(name) : name === values.only,
  );
}

/** The ways to lose a primary. Each leaves three servers running. */
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
    'frozen primary': async (primary) => {
      primary.signal('SIGSTOP');
      await cluster.waitForPrimary(primary);
      await waitForWork(stream);
      // Resets the machine, as a watchdog would.
      primary.signal('SIGKILL');
      primary.start();
    },
    // Without Patroni, nothing tells the resumed PostgreSQL server to stop. Nodes that list all hosts may still be
    // connected to that server, which must not confirm any write.
    'resumed primary without Patroni': async (primary) => {
      primary.signal('SIGSTOP');
      await cluster.waitForPrimary(primary);
      primary.signal('SIGKILL', 'patroni');
      primary.signal('SIGCONT');
      await waitForWork(stream);
      await waitForWork(stream);
      primary.signal('SIGKILL');
      primary.start();
    },
  };
}

async function waitForWork({ acknowledged: { participations, bindings } }: Stream): Promise<void> {
  const [first, second] = [participations.length + WORK, bindings.length + WORK];
  await waitFor('acknowledged requests', async () =>
    participations.length >= first && bindings.length >= second ? true : null,
  );
}
