import { MIN_ROUNDS } from './load.ts';
import { type MeasuredLoad, startMix } from './mix.ts';
import { barOf, type Result } from './result.ts';
import { median, spreadOf } from './statistics.ts';

const RATE = 1_000;
const SECONDS = 8;

/** Measures a realistic mix of requests at a steady rate on all cores: latency, and CPU time per request. */
export async function run(): Promise<Result> {
  const { measure, stop } = await startMix();
  const rounds: (MeasuredLoad & { cpuMicrosPerRequest: number })[] = [];
  try {
    await measure({ seconds: 3, rate: RATE });
    for (let round = 0; round < MIN_ROUNDS; round++) {
      const measured = await measure({ seconds: SECONDS, rate: RATE });
      const cpuMicrosPerRequest = measured.cpuMicros / (measured.acceptedPerSecond * SECONDS);
      rounds.push({ ...measured, cpuMicrosPerRequest });
    }
  } finally {
    await stop();
  }
  const of = (name: 'acceptedP99' | 'acceptedPerSecond' | 'cpuMicrosPerRequest') =>
    rounds.map((round) => round[name]);
  const middle = rounds.find(({ acceptedP99 }) => acceptedP99 === median(of('acceptedP99')));
  return {
    name: `A mix of requests at ${RATE} per second`,
    bars: [
      barOf('p99, ms', of('acceptedP99'), { max: 50 }),
      barOf('accepted requests per second', of('acceptedPerSecond'), { min: 0.95 * RATE }),
    ],
    figures: {
      'CPU microseconds per request': spreadOf(of('cpuMicrosPerRequest')),
      'the median round': middle,
      rounds,
    },
  };
}
