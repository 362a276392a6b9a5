import { compare, ratioBars } from './load.ts';
import type { Result } from './result.ts';
import { startTarget } from './target.ts';

/**
 * Compares the eligibility route, which tells a user whether they could invest in an offer, with a bare route that runs
 * the same query. The offer has four options with seven requirements each.
 */
export async function run(): Promise<Result> {
  const bare = await startTarget('./eligibility-bare.ts');
  const ours = await startTarget('./eligibility-ours.ts');
  try {
    const figures = await compare({ bare, ours });
    return {
      name: 'GET /v1/offers/{offer_id}/eligibility, one query',
      bars: ratioBars('a bare route with the same query', figures.ours, figures.bare, {
        ...{ min: 0.65, goal: 0.8 },
      }),
      figures,
    };
  } finally {
    await bare.stop();
    await ours.stop();
  }
}
