import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { TASKSET } from './load.ts';
import { type MeasuredLoad, startMix } from './mix.ts';
import type { Result } from './result.ts';

const CONNECTIONS = 64;
const WARM_UP_SECONDS = 10;
const PEAK_SECONDS = 8;
const OVERLOAD_SECONDS = 15;

/**
 * Measures throughput and latency at four times the load that saturates the node, relative to the peak. The
 * service and its database share one core; the load generator and the simulated providers run on another. On
 * the same core, the generator would take processor time from the service and lower its throughput. The load
 * comes from several partners and stays within their rate limits, so every refused request was refused
 * because the node was saturated.
 */
export async function run(): Promise<Result> {
  const isPinned = availableParallelism() > 1 && existsSync(TASKSET);
  if (isPinned) execFileSync(TASKSET, ['-acp', '1', String(process.pid)]);
  const { measure, stop } = await startMix(isPinned ? { core: 0 } : {});
  try {
    await measure({ seconds: WARM_UP_SECONDS, connections: CONNECTIONS });
    const first = await measure({ seconds: PEAK_SECONDS, connections: CONNECTIONS });
    const rate = Math.round(4 * first.acceptedPerSecond);
    const overloaded = await measure({ seconds: OVERLOAD_SECONDS, rate });
    // Measures the peak again, because the process may have become faster in the meantime.
    const second = await measure({ seconds: PEAK_SECONDS, connections: CONNECTIONS });
    const peak = first.acceptedPerSecond > second.acceptedPerSecond ? first : second;
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
      figures: { 'peak before': first, overloaded, 'peak after': second, ...costs(peak, overloaded) },
    };
  } finally {
    await stop();
  }
}

/** Returns the processor time per accepted and per refused request. */
function costs(peak: MeasuredLoad, overloaded: MeasuredLoad) {
  const accepted = peak.cpuMicros / (peak.acceptedPerSecond * PEAK_SECONDS);
  const spent = overloaded.cpuMicros - accepted * overloaded.acceptedPerSecond * OVERLOAD_SECONDS;
  const refused = spent / (overloaded.refusedPerSecond * OVERLOAD_SECONDS);
  return { 'CPU microseconds per request': { accepted, refused } };
}
