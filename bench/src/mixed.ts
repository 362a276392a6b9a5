import { startTarget, type Target } from './load.ts';
import type { Result } from './result.ts';
import { timedLoad } from './timed-load.ts';

const RATE = 1_000;
const SECONDS = 20;

/** Measures a mix of reads at a steady rate: latency, and processor time per request. */
export async function run(): Promise<Result> {
  const { target, stop } = await startTarget('./overload-target.ts');
  try {
    await timedLoad(target, { seconds: 3, connections: 50, rate: RATE });
    const before = await readCpu(target);
    const measured = await timedLoad(target, { seconds: SECONDS, connections: 50, rate: RATE });
    const micros = (await readCpu(target)) - before;
    const cpuMicrosPerRequest = micros / (measured.acceptedPerSecond * SECONDS);
    return {
      name: `Mixed reads at ${RATE} requests per second`,
      bars: [
        { label: 'p99, ms', value: measured.acceptedP99, max: 50 },
        { label: 'accepted requests per second', value: measured.acceptedPerSecond, min: 0.95 * RATE },
      ],
      figures: { ...measured, cpuMicrosPerRequest },
    };
  } finally {
    await stop();
  }
}

async function readCpu({ url }: Target): Promise<number> {
  const { micros } = (await (await fetch(`${url}/cpu`)).json()) as { micros: number };
  return micros;
}
