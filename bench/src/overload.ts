import { MIN_ROUNDS } from './load.ts';
import { type MeasuredLoad, startMix } from './mix.ts';
import { barOf, type Result } from './result.ts';
import { median } from './statistics.ts';
import { pinToCore } from './target.ts';

const CONNECTIONS = 64;
const WARM_UP_SECONDS = 10;
const PEAK_SECONDS = 12;
const OVERLOAD_SECONDS = 12;

/**
 * Measures throughput and latency at four times the load that saturates the node. The throughput is relative to the
 * peak throughput, which is measured before and after each overload.
 *
 * If the machine has several cores and `taskset`, the service and its database share one core. The load generator and
 * the simulated providers run on another core, so that they do not take CPU time from the service. The load comes from
 * several partners and stays within their rate limits, so requests are refused only because the node is saturated.
 */
export async function run(): Promise<Result> {
  const unpin = pinToCore(1);
  const { measure, stop } = await startMix(unpin ? { core: 0 } : {});
  const measurePeak = () => measure({ seconds: PEAK_SECONDS, connections: CONNECTIONS });
  const overloads: MeasuredLoad[] = [];
  try {
    await measure({ seconds: WARM_UP_SECONDS, connections: CONNECTIONS });
    const peaks = [await measurePeak()];
    const rate = Math.round(4 * (peaks[0]?.acceptedPerSecond ?? 0));
    for (let round = 0; round < MIN_ROUNDS; round++) {
      overloads.push(await measure({ seconds: OVERLOAD_SECONDS, rate }));
      peaks.push(await measurePeak());
    }
    const perSecond = (load: MeasuredLoad | undefined) => load?.acceptedPerSecond ?? 0;
    const relative = overloads.map(
      // Divides by the peak before the overload or the peak after it, whichever is higher. The process may become
      // faster during the benchmark, so the earlier peak may be too low.
      (load, round) => perSecond(load) / Math.max(perSecond(peaks[round]), perSecond(peaks[round + 1])),
    );
    return {
      name: 'Overload: four times the saturating load',
      bars: [
        barOf(
          'p99 of accepted requests, ms',
          overloads.map(({ acceptedP99 }) => acceptedP99),
          { max: 500 },
        ),
        barOf('throughput relative to the peak', relative, { min: 0.8 }),
      ],
      figures: {
        ...Object.fromEntries(peaks.map((load, round) => [`peak ${round}`, load])),
        ...Object.fromEntries(overloads.map((load, round) => [`overloaded ${round + 1}`, load])),
        'CPU microseconds per request': costs(peaks, overloads),
      },
    };
  } finally {
    unpin?.();
    await stop();
  }
}

/** Returns the median CPU time per accepted and per refused request. */
function costs(peaks: readonly MeasuredLoad[], overloads: readonly MeasuredLoad[]) {
  const accepted = median(
    peaks.map(({ cpuMicros, acceptedPerSecond }) => cpuMicros / (acceptedPerSecond * PEAK_SECONDS)),
  );
  const refused = median(
    overloads.map(({ cpuMicros, acceptedPerSecond, refusedPerSecond }) => {
      const spent = cpuMicros - accepted * acceptedPerSecond * OVERLOAD_SECONDS;
      return spent / (refusedPerSecond * OVERLOAD_SECONDS);
    }),
  );
  return { accepted, refused };
}
