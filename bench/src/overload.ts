import { startTarget } from './load.ts';
import type { Result } from './result.ts';
import { timedLoad } from './timed-load.ts';

const CONNECTIONS = 64;
/** High enough that arrivals do not wait for a free connection while the node rejects requests. */
const MAX_CONNECTIONS = 1_000;

/** Measures throughput and latency at four times the load that saturates the node, relative to the peak. */
export async function run(): Promise<Result> {
  const { target, stop } = await startTarget('./overload-target.ts');
  try {
    await timedLoad(target, { seconds: 3, connections: CONNECTIONS });
    const peak = await timedLoad(target, { seconds: 10, connections: CONNECTIONS });
    const overloaded = await timedLoad(target, {
      seconds: 15,
      connections: MAX_CONNECTIONS,
      rate: Math.round(4 * peak.acceptedPerSecond),
    });
    return {
      name: 'Overload: four times the saturating load',
      bars: [
        { label: 'p99 of accepted requests, ms', value: overloaded.acceptedP99, max: 500 },
        {
          label: 'throughput relative to the peak',
          value: overloaded.acceptedPerSecond / peak.acceptedPerSecond,
          min: 0.8,
        },
      ],
      figures: { peak, overloaded },
    };
  } finally {
    await stop();
  }
}
