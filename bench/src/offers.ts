import { compare, startTarget } from './load.ts';
import type { Result } from './result.ts';

/** Compares the list of offers, which partners poll most, with a bare Fastify route that returns a list of the same size. */
export async function run(): Promise<Result> {
  const bare = await startTarget('./kernel-bare.ts');
  const ours = await startTarget('./offers-ours.ts');
  try {
    const figures = await compare({ bare: bare.target, ours: ours.target });
    const ratio = figures.ours.requestsPerSecond / figures.bare.requestsPerSecond;
    return {
      name: 'GET /v1/offers, authenticated and cached',
      bars: [{ label: 'throughput relative to the bare route', value: ratio, min: 0.55, goal: 0.65 }],
      figures,
    };
  } finally {
    await bare.stop();
    await ours.stop();
  }
}
