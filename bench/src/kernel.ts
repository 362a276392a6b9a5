import { compare, startTarget } from './load.ts';
import type { Result } from './result.ts';

/**
 * Measures the overhead of the kernel: the same 2 KB list served by a bare Fastify route and by a route that
 * the kernel declares.
 */
export async function run(): Promise<Result> {
  const bare = await startTarget('./kernel-bare.ts');
  const ours = await startTarget('./kernel-ours.ts');
  try {
    const figures = await compare({ bare: bare.target, ours: ours.target });
    const ratio = figures.ours.requestsPerSecond / figures.bare.requestsPerSecond;
    return {
      name: 'Kernel: access, rate limits, request id, ETag, metrics and logging',
      bars: [{ label: 'throughput relative to the bare route', value: ratio, min: 0.6, goal: 0.7 }],
      figures,
    };
  } finally {
    await bare.stop();
    await ours.stop();
  }
}
