import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, setPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { startSimulators } from '@causeway/sandbox/simulators/start.ts';
import { freePort } from '@causeway/service/http/free-port.ts';
import { installDebianPackages } from '../../service/test/support/packages.ts';
import { readCpuMs, readMachineCpuMs } from './cpu.ts';
import { MIN_ROUNDS } from './load.ts';
import { barOf, type Result } from './result.ts';
import { median, ratios } from './statistics.ts';
import { startTarget } from './target.ts';
import { type Mix, pickFrom, timedLoad } from './timed-load.ts';
import { connectWallets, type WalletTarget } from './wallet-load.ts';

const HAPROXY = '/usr/sbin/haproxy';
const SECONDS = 6;
const CONNECTIONS = 64;
const LOWEST_PRIORITY = 19;
const GOAL = 1.6;

type Target = { url: string; mix: Mix; wallets: WalletTarget; databaseUrl: string; dataDir: string };
/**
 * Sends requests to `url` for `SECONDS` seconds. Returns the number of successful replies and the CPU time spent on
 * sending.
 */
type Generator = (url: string) => Promise<{ replies: number; generatorCpuMs: number }>;
/**
 * The CPU times are milliseconds per request. `machineCpuMs` covers the whole machine, including the operating system
 * and the simulated providers.
 */
type Measured = Record<
  | 'requestsPerSecond'
  | 'nodeCpuMs'
  | 'databaseCpuMs'
  | 'proxyCpuMs'
  | 'generatorCpuMs'
  | 'machineCpuMs'
  | 'busyCores',
  number
>;

/**
 * Compares the throughput of two nodes behind HAProxy with the throughput of one node, for several kinds of requests.
 * All processes share the machine's cores. The load generator has the lowest priority.
 *
 * `ceiling` is the highest ratio that any number of nodes could reach. One node uses one core, so it serves at most one
 * request per `nodeCpuMs`. The whole machine serves at most one request per core in each `machineCpuMs`. The ceiling is
 * the machine's highest rate divided by the node's.
 */
export async function run(): Promise<Result> {
  const problem = installDebianPackages(['haproxy', 'wrk']);
  if (problem !== null) throw new Error(problem);
  const folder = mkdtempSync(join(tmpdir(), 'causeway-bench-nodes-'));
  const simulators = await startSimulators({
    dataDir: folder,
    clock: { now_ms: Date.now(), running: true },
  });
  await simulators.control.call('venue/set', { session: 'regular' });
  const outside = JSON.stringify({ venue: simulators.venue, chains: simulators.chains, isPatient: true });
  const first = await startTarget<Target>('./mix-target.ts', [outside]);
  const { databaseUrl, dataDir, mix, wallets } = first.target;
  const second = await startTarget<{ url: string }>('./mix-node.ts', [outside, databaseUrl, dataDir]);
  // Lowers this process's priority only after the child processes have started, because they would otherwise inherit
  // the low priority.
  setPriority(LOWEST_PRIORITY);
  const urls = [first.target.url, second.target.url];
  const postmaster = Number(readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0]);
  const kinds: Record<string, Generator> = {
    'a cached list': sendWithWrk(folder, mix['offers.list']?.requests ?? []),
    'a quote': sendWithWrk(folder, mix['quotes.get']?.requests ?? []),
    'statuses, one query': sendWithWrk(folder, mix['statuses.list']?.requests ?? []),
    'a wallet proof': inThisProcess(
      async (url) => (await connectWallets({ ...wallets, url }, SECONDS)).length,
    ),
    'the mix': inThisProcess(sendMix(mix)),
  };
  const figures: Record<string, unknown> = {};
  const bars = [];
  try {
    for (const [kind, generate] of Object.entries(kinds)) {
      const [one, two]: [Measured[], Measured[]] = [[], []];
      for (let round = 0; round <= MIN_ROUNDS; round++)
        for (const [rounds, nodes] of [
          [one, urls.slice(0, 1)],
          [two, urls],
        ] as const) {
          const measured = await measure(folder, nodes, postmaster, generate);
          // The first round is a warm-up.
          if (round > 0) rounds.push(measured);
        }
      const single = medianOf(one);
      const ceiling = (availableParallelism() * single.nodeCpuMs) / single.machineCpuMs;
      figures[`${kind}, one node`] = { ...single, ceiling, rounds: one };
      figures[`${kind}, two nodes`] = { ...medianOf(two), rounds: two };
      const perSecond = (rounds: Measured[]) => rounds.map(({ requestsPerSecond }) => requestsPerSecond);
      bars.push(
        barOf(`throughput of ${kind}`, ratios(perSecond(two), perSecond(one)), { min: 1, goal: GOAL }),
      );
    }
  } finally {
    await second.stop();
    await first.stop();
    await simulators.stop();
    rmSync(folder, { recursive: true, force: true });
  }
  return { name: 'Two nodes behind HAProxy, relative to one, on the same cores', bars, figures };
}

async function measure(
  folder: string,
  nodes: readonly string[],
  postmaster: number,
  generate: Generator,
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
      readMachineCpuMs(),
    ];
    const [before, startedAt] = [await readCpu(), performance.now()];
    const { replies, generatorCpuMs } = await generate(`http://127.0.0.1:${port}`);
    const [after, milliseconds] = [await readCpu(), performance.now() - startedAt];
    const spent = after.map((value, index) => value - (before[index] ?? 0));
    const [nodeCpuMs = 0, databaseCpuMs = 0, proxyCpuMs = 0, machineCpuMs = 0] = spent.map(
      (time) => time / replies,
    );
    return {
      requestsPerSecond: replies / SECONDS,
      ...{ nodeCpuMs, databaseCpuMs, proxyCpuMs, generatorCpuMs: generatorCpuMs / replies, machineCpuMs },
      busyCores: (spent[3] ?? 0) / milliseconds,
    };
  } finally {
    proxy.kill('SIGTERM');
    await once(proxy, 'exit');
  }
}

/**
 * Returns a generator that sends the requests in turn with `wrk`, which uses less CPU time than a JavaScript generator.
 */
function sendWithWrk(folder: string, requests: readonly string[]): Generator {
  const script = join(folder, `${requests.length}-${requests[0]?.length}.lua`);
  // Lua understands the escapes that `JSON.stringify` writes for these requests.
  const list = requests.map((text) => JSON.stringify(text)).join(',\n');
  const next = 'local n = 0\nfunction request() n = n + 1 return requests[n % #requests + 1] end';
  writeFileSync(script, `local requests = {\n${list}\n}\n${next}\n`);
  const command = `nice -n ${LOWEST_PRIORITY} wrk -t 1 -c ${CONNECTIONS} -d ${SECONDS}s -s "$1" "$2" && times`;
  return async (url) => {
    const { stdout } = await promisify(execFile)('bash', ['-c', command, 'bash', script, url]);
    const numberIn = (pattern: RegExp) => Number(pattern.exec(stdout)?.[1] ?? 0);
    const refused = numberIn(/Non-2xx or 3xx responses: (\d+)/);
    const total = numberIn(/^\s*(\d+) requests in/m);
    if (/Socket errors/.test(stdout) || refused > 0.01 * total) throw new Error(`${url}: ${stdout}`);
    // The last line that `times` prints has the children's user time and system time: `0m1.234s 0m0.567s`.
    const spent = [...(stdout.trim().split('\n').at(-1) ?? '').matchAll(/(\d+)m([\d.]+)s/g)];
    const generatorCpuMs = spent.reduce(
      (sum, [, minutes, seconds]) => sum + Number(minutes) * 60_000 + Number(seconds) * 1000,
      0,
    );
    return { replies: total - refused, generatorCpuMs };
  };
}

function inThisProcess(send: (url: string) => Promise<number>): Generator {
  return async (url) => {
    const before = process.cpuUsage();
    const replies = await send(url);
    const { user, system } = process.cpuUsage(before);
    return { replies, generatorCpuMs: (user + system) / 1000 };
  };
}

function sendMix(mix: Mix): (url: string) => Promise<number> {
  const next = pickFrom(mix);
  return async (url) => {
    const load = { seconds: SECONDS, connections: CONNECTIONS };
    return (await timedLoad(url, next, load)).acceptedPerSecond * SECONDS;
  };
}

/** Returns the CPU time of the nodes in milliseconds. */
async function readNodes(nodes: readonly string[]): Promise<number> {
  const times = await Promise.all(
    nodes.map(async (url) => (await (await fetch(`${url}/cpu`)).json()) as { micros: number }),
  );
  return times.reduce((sum, { micros }) => sum + micros / 1000, 0);
}

function medianOf(rounds: readonly Measured[]): Measured {
  const names = Object.keys(rounds[0] ?? {}) as (keyof Measured)[];
  return Object.fromEntries(
    names.map((name) => [name, median(rounds.map((each) => each[name]))]),
  ) as Measured;
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
