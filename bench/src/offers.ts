import { compare, startTarget } from './load.ts';
import type { Result } from './main.ts';

/** What partners poll most: the list of offers, authenticated, against a bare Fastify route with a list of the same size. */
export async function run(): Promise<Result> {
  const bare = await startTarget('./kernel-bare.ts');
  const ours = await startTarget('./offers-ours.ts');
  try {
    const figures = await compare({ bare: bare.target, ours: ours.target });
    const ratio = figures.ours.requestsPerSecond / figures.bare.requestsPerSecond;
    return {
      name: 'GET /v1/offers, from memory, with everything on',
      bars: [{ says: 'throughput against the bare route', reached: ratio, least: 0.55, goal: 0.65 }],
      figures,
    };
  } finally {
    await bare.stop();
    await ours.stop();
  }
}
