import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { setPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startSimulators } from '@causeway/sandbox/simulators/start.ts';
import { freePort } from '@causeway/service/http/free-port.ts';
import { readCpuMs } from './cpu.ts';
import { barOf, type Result } from './result.ts';
import { median, ratios } from './statistics.ts';
import { startTarget } from './target.ts';
import { type Mix, pickFrom, timedLoad } from './timed-load.ts';

const HAPROXY = '/usr/sbin/haproxy';
const SECONDS = 10;
const ROUNDS = 5;
const CONNECTIONS = 64;
const LOWEST_PRIORITY = 19;

type Target = { url: string; mix: Mix; databaseUrl: string; dataDir: string };
type Measured = Record<'requestsPerSecond' | 'nodeCpuMs' | 'databaseCpuMs' | 'proxyCpuMs', number>;

/**
 * Compares two nodes behind HAProxy with a single one, on all cores of the machine. The load generator has the lowest
 * priority.
 */
export async function run(): Promise<Result> {
  if (!existsSync(HAPROXY)) throw new Error(`${HAPROXY} is missing: install the package haproxy`);
  const folder = mkdtempSync(join(tmpdir(), 'causeway-bench-nodes-'));
  const simulators = await startSimulators({
    dataDir: folder,
    clock: { now_ms: Date.now(), running: true },
  });
  await simulators.control.call('venue/set', { session: 'regular' });
  const outside = JSON.stringify({ venue: simulators.venue, chains: simulators.chains });
  const first = await startTarget<Target>('./mix-target.ts', [outside]);
  const { databaseUrl, dataDir, mix } = first.target;
  const second = await startTarget<{ url: string }>('./mix-node.ts', [outside, databaseUrl, dataDir]);
  // Set only after the child processes have started, because they would inherit it.
  setPriority(LOWEST_PRIORITY);
  const urls = [first.target.url, second.target.url];
  const postmaster = Number(readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0]);
  const next = pickFrom(mix);
  const all: Record<string, Measured[]> = { 'one node': [], 'two nodes': [] };
  try {
    for (let round = 0; round <= ROUNDS; round++)
      for (const [name, nodes] of [
        ['one node', urls.slice(0, 1)],
        ['two nodes', urls],
      ] as const) {
        const measured = await measure(folder, nodes, postmaster, next);
        // The first round warms up.
        if (round > 0) all[name]?.push(measured);
      }
  } finally {
    await second.stop();
    await first.stop();
    await simulators.stop();
    rmSync(folder, { recursive: true, force: true });
  }
  const figures = Object.fromEntries(
    Object.entries(all).map(([name, rounds]) => [name, { ...medianOf(rounds), rounds }] as const),
  );
  const perSecond = (name: string) => (all[name] ?? []).map(({ requestsPerSecond }) => requestsPerSecond);
  return {
    name: 'Two nodes behind HAProxy, relative to one, on the same cores',
    bars: [barOf('throughput', ratios(perSecond('two nodes'), perSecond('one node')), { min: 0, goal: 1.6 })],
    figures,
  };
}

async function measure(
  folder: string,
  nodes: readonly string[],
  postmaster: number,
  next: ReturnType<typeof pickFrom>,
): Promise<Measured> {
  const port = await freePort();
  const file = join(folder, 'haproxy.cfg');
  writeFileSync(file, proxySettings(port, nodes));
  const proxy = spawn(HAPROXY, ['-db', '-f', file], { stdio: 'ignore' });
  try {
    setPriority(Number(proxy.pid), 0);
    await sleep(1_000);
    const readCpu = async () => [
      await readNodes(nodes),
      readCpuMs(postmaster) ?? 0,
      readCpuMs(Number(proxy.pid)) ?? 0,
    ];
    const before = await readCpu();
    const load = { seconds: SECONDS, connections: CONNECTIONS };
    const { acceptedPerSecond } = await timedLoad(`http://127.0.0.1:${port}`, next, load);
    const after = await readCpu();
    const [nodeCpuMs = 0, databaseCpuMs = 0, proxyCpuMs = 0] = after.map(
      (value, index) => (value - (before[index] ?? 0)) / (acceptedPerSecond * SECONDS),
    );
    return { requestsPerSecond: acceptedPerSecond, nodeCpuMs, databaseCpuMs, proxyCpuMs };
  } finally {
    proxy.kill('SIGTERM');
    await once(proxy, 'exit');
  }
}

/** Returns the processor time of the nodes in milliseconds. */
async function readNodes(nodes: readonly string[]): Promise<number> {
  const times = await Promise.all(
    nodes.map(async (url) => (await (await fetch(`${url}/cpu`)).json()) as { micros: number }),
  );
  return times.reduce((sum, { micros }) => sum + micros / 1000, 0);
}

function medianOf(rounds: readonly Measured[]): Measured {
  const of = (name: keyof Measured) => median(rounds.map((each) => each[name]));
  return {
    requestsPerSecond: of('requestsPerSecond'),
    nodeCpuMs: of('nodeCpuMs'),
    databaseCpuMs: of('databaseCpuMs'),
    proxyCpuMs: of('proxyCpuMs'),
  };
}

function proxySettings(port: number, nodes: readonly string[]): string {
  return `
defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
frontend public
  bind 127.0.0.1:${port}
  default_backend nodes
backend nodes
  balance roundrobin
  ${nodes.map((url, index) => `server node${index} ${new URL(url).host}`).join('\n  ')}
`;
}
