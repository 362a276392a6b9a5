import autocannon from 'autocannon';
import type { Target } from './load.ts';

export type TimedLoad = { acceptedPerSecond: number; refusedPerSecond: number; acceptedP99: number };

/**
 * Sends requests and measures accepted and rejected requests (429 and 503) separately. `rate` limits the
 * requests per second across all connections. Without `rate`, each connection sends the next request as soon
 * as a reply arrives.
 */
export async function timedLoad(
  { paths = [], ...target }: Target,
  { seconds, connections, rate }: { seconds: number; connections: number; rate?: number },
): Promise<TimedLoad> {
  const times: number[] = [];
  let refused = 0;
  const options = {
    ...target,
    requests: paths.map((path) => ({ path })),
    connections,
    duration: seconds,
    ...(rate !== undefined && { overallRate: rate }),
  };
  const { errors } = await new Promise<autocannon.Result>((resolve, reject) => {
    const running = autocannon(options, (error: unknown, result) =>
      error ? reject(error) : resolve(result),
    );
    running.on('response', (_client, status, _bytes, milliseconds) => {
      if (status === 503 || status === 429) refused++;
      else times.push(milliseconds);
    });
  });
  if (errors > 0) throw new Error(`${target.url}: ${errors} connection errors`);
  times.sort((a, b) => a - b);
  return {
    acceptedPerSecond: times.length / seconds,
    refusedPerSecond: refused / seconds,
    acceptedP99: times[Math.floor(times.length * 0.99)] ?? 0,
  };
}
