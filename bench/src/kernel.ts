import { compare, startTarget } from './load.ts';
import type { Result } from './result.ts';

/** What the kernel costs: the same 2 KB list from a bare Fastify route and from a declared route with everything on. */
export async function run(): Promise<Result> {
  const bare = await startTarget('./kernel-bare.ts');
  const ours = await startTarget('./kernel-ours.ts');
  try {
    const figures = await compare({ bare: bare.target, ours: ours.target });
    const ratio = figures.ours.requestsPerSecond / figures.bare.requestsPerSecond;
    return {
      name: 'The kernel: access, limits, request id, ETag, metrics and log',
      bars: [{ label: 'throughput against the bare route', value: ratio, min: 0.6, goal: 0.7 }],
      figures,
    };
  } finally {
    await bare.stop();
    await ours.stop();
  }
}
