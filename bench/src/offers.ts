import { compare, ratioBars } from './load.ts';
import type { Result } from './result.ts';
import { startTarget } from './target.ts';

/**
 * Compares the list of offers, the route that partners poll most, with a bare Fastify route that returns a list of the
 * same size.
 */
export async function run(): Promise<Result> {
  const bare = await startTarget('./kernel-bare.ts');
  const ours = await startTarget('./offers-ours.ts');
  try {
    const figures = await compare({ bare, ours });
    return {
      name: 'GET /v1/offers, authenticated and cached',
      bars: ratioBars('a bare Fastify route', figures.ours, figures.bare, { min: 0.82, goal: 0.9 }),
      figures,
    };
  } finally {
    await bare.stop();
    await ours.stop();
  }
}
