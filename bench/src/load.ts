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
  /** Asked in turn in place of the URL's own path. */
  paths?: string[];
};

/** A server in a process of its own: `file` sends `{ target }` when it listens. */
export async function startTarget<T = Target>(
  file: string,
  args: string[] = [],
): Promise<{ target: T; stop(): Promise<void> }> {
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), args, {
    execArgv: 'typescript' in process.features && process.features.typescript ? [] : ['--import', 'tsx'],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const failed = once(child, 'exit').then(([code]) =>
    Promise.reject(new Error(`${file} ended with ${code}`)),
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
    throw new Error(`${target.url}: ${result.non2xx} refused, ${result.errors} failed`);
  return { requestsPerSecond: result.requests.average, p99: result.latency.p99 };
}

/** Rounds taken in turn, so that a busy moment of the machine hits all alike; the median of each is kept. */
export async function compare<Name extends string>(
  targets: Record<Name, Target>,
  { rounds = 5, seconds = 4 } = {},
): Promise<Record<Name, Load>> {
  const names = Object.keys(targets) as Name[];
  const all = Object.fromEntries(names.map((name) => [name, [] as Load[]])) as Record<Name, Load[]>;
  for (const name of names) await load(targets[name], 2);
  for (let round = 0; round < rounds; round++)
    for (const name of names) all[name].push(await load(targets[name], seconds));
  return Object.fromEntries(names.map((name) => [name, median(all[name])])) as Record<Name, Load>;
}

function median(loads: Load[]): Load {
  const middle = (values: number[]) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
  return {
    requestsPerSecond: middle(loads.map((one) => one.requestsPerSecond)),
    p99: middle(loads.map(({ p99 }) => p99)),
  };
}
