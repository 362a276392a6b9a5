import autocannon from 'autocannon';
import type { Target } from './target.ts';

const CONNECTIONS = 64;
const WARM_UP_SECONDS = 5;
const TURNS = 6;
const TURN_SECONDS = 2;

type Requests = { method?: 'GET' | 'POST'; path: string; headers?: Record<string, string>; body?: string }[];

/** Prints one row of the table in docs/benchmarks.md. */
export function printRow(work: string, measured: string, goal: string, against = '–'): void {
  console.log(`| ${[work, measured, goal, against].join(' | ')} |`);
}

/**
 * Prints how many times the peer's throughput the service reaches. Both take turns of two seconds, so that what else
 * runs on the machine slows both. `paths` are requested in turn; default: the path of the URL.
 */
export async function compare(
  work: string,
  {
    ours,
    peer,
    atLeast,
    against,
    paths,
  }: {
    ours: Target;
    peer: Target;
    atLeast: number;
    against: string;
    paths?: string[];
  },
): Promise<void> {
  const requests = paths?.map((path) => ({ path }));
  for (const target of [peer, ours]) await loadRequests(target, requests, WARM_UP_SECONDS);
  let [theirs, reached] = [0, 0];
  for (let turn = 0; turn < TURNS; turn++) {
    theirs += (await loadRequests(peer, requests, TURN_SECONDS)) / TURNS;
    reached += (await loadRequests(ours, requests, TURN_SECONDS)) / TURNS;
  }
  const measured = `${(reached / theirs).toFixed(2)}× (${Math.round(reached)} and ${Math.round(theirs)} requests/s)`;
  printRow(work, measured, `≥ ${atLeast}×`, against);
}

async function loadRequests(
  target: Target,
  requests: Requests | undefined,
  seconds: number,
): Promise<number> {
  const { answered, refused } = await saturate(target, requests, seconds);
  if (refused > 0) throw new Error(`${target.url}: ${refused} error responses`);
  return answered;
}

/**
 * Loads the target with as many connections as it takes to keep it busy. Each connection waits for a reply before it
 * goes on. Returns the replies per second.
 */
export async function saturate(target: Target, requests: Requests | undefined, seconds: number) {
  const load = { ...target, ...(requests && { requests }), connections: CONNECTIONS, duration: seconds };
  const result = await autocannon(load);
  return { answered: result['2xx'] / result.duration, refused: result.non2xx / result.duration };
}

export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

export function percentile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? Number.NaN;
}
