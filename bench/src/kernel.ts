import { compare, ratioBars } from './load.ts';
import type { Result } from './result.ts';
import { startTarget } from './target.ts';

/**
 * Measures the overhead of the service's kernel (access checks, logging and so on). A bare Fastify route and a kernel
 * route serve the same 2 KB list.
 */
export async function run(): Promise<Result> {
  const bare = await startTarget('./kernel-bare.ts');
  const ours = await startTarget('./kernel-ours.ts');
  try {
    const figures = await compare({ bare, ours });
    return {
      name: 'Kernel: access, rate limits, request id, ETag, metrics and logging',
      bars: ratioBars('a bare Fastify route', figures.ours, figures.bare, { min: 0.67, goal: 0.75 }),
      figures,
    };
  } finally {
    await bare.stop();
    await ours.stop();
  }
}
