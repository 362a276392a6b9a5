import autocannon from 'autocannon';
import { type CpuTime, readCpuTime } from './cpu.ts';
import { type Bar, barOf } from './result.ts';
import { median, ratios } from './statistics.ts';
import type { Started } from './target.ts';

/** One target's result in one round. CPU times are microseconds per request, or null if the system has no `/proc`. */
export type Load = {
  requestsPerSecond: number;
  /** Milliseconds by percentile. */
  latency: Record<`p${50 | 75 | 90 | 99}`, number>;
  serviceCpuMicros: number | null;
  databaseCpuMicros: number | null;
};

/** One target's medians over all rounds, and the rounds themselves. */
export type Loads = Load & { rounds: Load[] };

export const MIN_ROUNDS = 5;

export async function load(
  { target: { paths, tokens, ...target }, pid }: Pick<Started, 'target' | 'pid'>,
  seconds: number,
  connections = 64,
): Promise<Load> {
  const { pathname, search } = new URL(target.url);
  const requests =
    tokens === undefined
      ? paths?.map((path) => ({ path }))
      : tokens.map((token) => ({
          path: `${pathname}${search}`,
          headers: { ...target.headers, authorization: `Bearer ${token}` },
        }));
  const before = readCpuTime(pid);
  const result = await autocannon({
    ...target,
    ...(requests && { requests }),
    connections,
    duration: seconds,
  });
  const after = readCpuTime(pid);
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${target.url}: ${result.non2xx} error responses, ${result.errors} connection errors`);
  const { p50, p75, p90, p99 } = result.latency;
  const perRequest = (part: keyof CpuTime) =>
    before === null || after === null ? null : ((after[part] - before[part]) * 1000) / result.requests.total;
  return {
    requestsPerSecond: result.requests.average,
    latency: { p50, p75, p90, p99 },
    serviceCpuMicros: perRequest('ownMs'),
    databaseCpuMicros: perRequest('descendantsMs'),
  };
}

/** Measures the targets in alternating rounds, so that load on the machine affects all targets equally. */
export async function compare<Name extends string>(
  targets: Record<Name, Pick<Started, 'target' | 'pid'>>,
  { rounds = MIN_ROUNDS, seconds = 4 } = {},
): Promise<Record<Name, Loads>> {
  const names = Object.keys(targets) as Name[];
  const all = Object.fromEntries(names.map((name) => [name, [] as Load[]])) as Record<Name, Load[]>;
  for (const name of names) await load(targets[name], 2);
  for (let round = 0; round < rounds; round++)
    for (const name of inTurn(names, round)) all[name].push(await load(targets[name], seconds));
  return Object.fromEntries(names.map((name) => [name, medianLoad(all[name])])) as Record<Name, Loads>;
}

/** Returns the targets, reversed in every other round, so that no target always runs after the same one. */
export function inTurn<T>(targets: readonly T[], round: number): readonly T[] {
  return round % 2 === 0 ? targets : targets.toReversed();
}

function medianLoad(rounds: Load[]): Loads {
  const of = (value: (load: Load) => number) => median(rounds.map(value));
  const cpu = (part: 'serviceCpuMicros' | 'databaseCpuMicros') =>
    rounds[0]?.[part] === null ? null : of((load) => load[part] ?? 0);
  return {
    requestsPerSecond: of((load) => load.requestsPerSecond),
    latency: {
      p50: of(({ latency }) => latency.p50),
      p75: of(({ latency }) => latency.p75),
      p90: of(({ latency }) => latency.p90),
      p99: of(({ latency }) => latency.p99),
    },
    serviceCpuMicros: cpu('serviceCpuMicros'),
    databaseCpuMicros: cpu('databaseCpuMicros'),
    rounds,
  };
}

/** Returns a bar with the throughput of `ours` divided by the throughput of `theirs`, one value per round. */
export function throughputBar(
  label: string,
  ours: Loads,
  theirs: Loads,
  limit: { min: number; goal?: number },
): Bar {
  const perSecond = ({ rounds }: Loads) => rounds.map(({ requestsPerSecond }) => requestsPerSecond);
  return barOf(`throughput relative to ${label}`, ratios(perSecond(ours), perSecond(theirs)), limit);
}

/**
 * Returns two bars with the same limit: one for throughput, and one for requests per second of CPU time (service and
 * database). Other programs on the machine hardly affect the second bar. The second bar is left out if the system has
 * no `/proc`.
 */
export function ratioBars(
  label: string,
  ours: Loads,
  theirs: Loads,
  limit: { min: number; goal?: number },
): Bar[] {
  const cpu = ({ rounds }: Loads) =>
    rounds.map(({ serviceCpuMicros, databaseCpuMicros }) =>
      serviceCpuMicros === null || databaseCpuMicros === null
        ? Number.NaN
        : serviceCpuMicros + databaseCpuMicros,
    );
  const found = ratios(cpu(theirs), cpu(ours));
  return [
    throughputBar(label, ours, theirs, limit),
    ...(found.every(Number.isFinite)
      ? [barOf(`requests per CPU second relative to ${label}`, found, limit)]
      : []),
  ];
}
