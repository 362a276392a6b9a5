import { compare, startTarget } from './load.ts';
import type { Result } from './result.ts';

/**
 * Compares the eligibility dry run of an offer (four options, seven requirements each) with a bare route that
 * runs the same query.
 */
export async function run(): Promise<Result> {
  const bare = await startTarget('./eligibility-bare.ts');
  const ours = await startTarget('./eligibility-ours.ts');
  try {
    const figures = await compare({ bare: bare.target, ours: ours.target });
    const ratio = figures.ours.requestsPerSecond / figures.bare.requestsPerSecond;
    return {
      name: 'GET /v1/offers/{offer_id}/eligibility, one query',
      bars: [{ label: 'throughput relative to a bare route with the same query', value: ratio, min: 0.6 }],
      figures,
    };
  } finally {
    await bare.stop();
    await ours.stop();
  }
}
