import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startEmbedded } from '../../src/db/embedded.ts';
import { freePort } from '../../src/http/free-port.ts';
import { productionSettings, runCauseway, type Service, startService } from '../support/service.ts';
import { sendLoad } from './load.ts';
import { createOldDatabase } from './old-database.ts';
import { installProxies, PROXIES, startProxy } from './proxies.ts';

// Restarts three nodes one by one behind nginx and behind HAProxy, on a version 0.1 database that the first
// node upgrades, and rotates the secrets and keys meanwhile. No request may fail.
const reason = installProxies();
if (reason !== null) {
  console.log(`rolling restart skipped: ${reason}`);
  process.exit(0);
}

const folder = await mkdtemp(join(tmpdir(), 'causeway-rolling-'));
const database = await startEmbedded({ dataDir: join(folder, 'data'), log: () => undefined });
const credentials = await createOldDatabase(database.url);
const [older, newer] = [randomBytes(32), randomBytes(32)].map((secret) => secret.toString('base64'));
const limits = Object.fromEntries(
  ['API', 'OAUTH_TOKEN', 'SIGN_IN'].map((name) => [`RATE_LIMIT_${name}`, '1000000']),
);
const settings = (secrets: string) => ({
  ...productionSettings(database.url),
  ...limits,
  CAUSEWAY_DATA: folder,
  CAUSEWAY_SECRET: secrets,
  TRUST_PROXY: 'loopback',
  LOG_LEVEL: 'info',
});

const ports = [await freePort(), await freePort(), await freePort()];
const startNode = (port: number, secrets: string) =>
  startService({ ...settings(secrets), PORT: String(port) });
let nodes: Service[] = [];

/** Restarts the nodes one by one, each after the proxy has had time to see the previous one come back. */
async function restartAll(secrets: string): Promise<void> {
  for (const [i, port] of ports.entries()) {
    const code = await nodes[i]?.stop();
    if (code !== 0) throw new Error(`node ${i} exited with ${code}`);
    nodes[i] = await startNode(port, secrets);
    await sleep(1_200);
  }
}

async function command(args: string[], secrets: string): Promise<void> {
  const { code, text } = await runCauseway(args, settings(secrets));
  if (code !== 0) throw new Error(`causeway ${args.join(' ')}: ${text}`);
}

/** What happens behind each proxy, in the order of a secret rotation. */
const steps = {
  nginx: async () => {
    await restartAll(`${older},${newer}`);
  },
  HAProxy: async () => {
    await restartAll(`${newer},${older}`);
    await command(['keys', 'rotate'], `${newer},${older}`);
    await restartAll(`${newer}`);
  },
};

let failed = 0;
try {
  nodes = await Promise.all(ports.map((port) => startNode(port, String(older))));
  console.log('three nodes upgraded a version 0.1 database');
  for (const name of Object.keys(PROXIES) as (keyof typeof PROXIES)[]) {
    const proxy = await startProxy(name, folder, await freePort(), ports);
    const { requests, failures } = await sendLoad(proxy.url, () => credentials, steps[name]());
    await proxy.stop();
    failed += failures.length;
    console.log(`${name}: ${requests} requests, ${failures.length} failed`);
    for (const failure of failures.slice(0, 10)) console.log(`  ${failure}`);
  }
} finally {
  await Promise.all(nodes.map((node) => node.stop().catch(() => undefined)));
  await database.stop();
  await rm(folder, { recursive: true, force: true });
}
process.exitCode = failed === 0 ? 0 : 1;
