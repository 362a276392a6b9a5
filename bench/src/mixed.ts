import { startMix } from './mix.ts';
import type { Result } from './result.ts';

const RATE = 1_000;
const SECONDS = 20;

/** Measures a realistic mix of requests at a steady rate on all cores: latency, and processor time per request. */
export async function run(): Promise<Result> {
  const { measure, stop } = await startMix();
  try {
    await measure({ seconds: 3, rate: RATE });
    const { cpuMicros, ...measured } = await measure({ seconds: SECONDS, rate: RATE });
    const cpuMicrosPerRequest = cpuMicros / (measured.acceptedPerSecond * SECONDS);
    return {
      name: `A mix of requests at ${RATE} per second`,
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
