import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import autocannon from 'autocannon';

export type Load = { requestsPerSecond: number; p99: number };
export type Target = {
  url: string;
  headers?: Record<string, string>;
  method?: 'GET' | 'POST';
  body?: string;
  /** Paths to request in turn. Default: the path of `url`. */
  paths?: string[];
};

/** The tool of util-linux that restricts a process to some cores. */
export const TASKSET = '/usr/bin/taskset';

/**
 * Starts `file` as a child process, on one core if `core` is given, and waits until the child sends its
 * target.
 */
export async function startTarget<T = Target>(
  file: string,
  args: string[] = [],
  core?: number,
): Promise<{ target: T; stop(): Promise<void> }> {
  const execArgv = 'typescript' in process.features && process.features.typescript ? [] : ['--import', 'tsx'];
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), args, {
    ...(core === undefined
      ? { execArgv }
      : { execPath: TASKSET, execArgv: ['-c', String(core), process.execPath, ...execArgv] }),
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const failed = once(child, 'exit').then(([code]) =>
    Promise.reject(new Error(`${file} exited with ${code}`)),
  );
  const [target] = (await Promise.race([once(child, 'message'), failed])) as [T];
  failed.catch(() => {});
  return {
    target,
    stop: async () => {
      child.kill('SIGTERM');
      if (child.exitCode === null) await once(child, 'exit');
    },
  };
}

export async function load({ paths, ...target }: Target, seconds: number, connections = 64): Promise<Load> {
  const requests = paths === undefined ? {} : { requests: paths.map((path) => ({ path })) };
  const result = await autocannon({ ...target, ...requests, connections, duration: seconds });
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${target.url}: ${result.non2xx} error responses, ${result.errors} connection errors`);
  return { requestsPerSecond: result.requests.average, p99: result.latency.p99 };
}

/** Measures the targets in alternating rounds, so that machine load affects them equally. Returns the medians. */
export async function compare<Name extends string>(
  targets: Record<Name, Target>,
  { rounds = 5, seconds = 4 } = {},
): Promise<Record<Name, Load>> {
  const names = Object.keys(targets) as Name[];
  const all = Object.fromEntries(names.map((name) => [name, [] as Load[]])) as Record<Name, Load[]>;
  for (const name of names) await load(targets[name], 2);
  for (let round = 0; round < rounds; round++)
    for (const name of names) all[name].push(await load(targets[name], seconds));
  return Object.fromEntries(names.map((name) => [name, medianLoad(all[name])])) as Record<Name, Load>;
}

function medianLoad(loads: Load[]): Load {
  return {
    requestsPerSecond: median(loads.map(({ requestsPerSecond }) => requestsPerSecond)),
    p99: median(loads.map(({ p99 }) => p99)),
  };
}

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
