import { compare, startTarget } from './load.ts';
import type { Result } from './result.ts';

/** What partners poll max: the list of offers, authenticated, against a bare Fastify route with a list of the same size. */
export async function run(): Promise<Result> {
  const bare = await startTarget('./kernel-bare.ts');
  const ours = await startTarget('./offers-ours.ts');
  try {
    const figures = await compare({ bare: bare.target, ours: ours.target });
    const ratio = figures.ours.requestsPerSecond / figures.bare.requestsPerSecond;
    return {
      name: 'GET /v1/offers, from memory, with everything on',
      bars: [{ label: 'throughput against the bare route', value: ratio, min: 0.55, goal: 0.65 }],
      figures,
    };
  } finally {
    await bare.stop();
    await ours.stop();
  }
}
