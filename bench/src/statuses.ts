import { compare, startTarget } from './load.ts';
import type { Result } from './result.ts';

/** Compares the requirement statuses, which pages poll during onboarding, with a bare route that runs the same query. */
export async function run(): Promise<Result> {
  const bare = await startTarget('./statuses-bare.ts');
  const ours = await startTarget('./statuses-ours.ts');
  try {
    const figures = await compare({ bare: bare.target, ours: ours.target });
    const ratio = figures.ours.requestsPerSecond / figures.bare.requestsPerSecond;
    return {
      name: 'GET /v1/offers/{offer_id}/requirements/statuses, one query',
      bars: [
        {
          label: 'throughput relative to a bare route with the same query',
          value: ratio,
          min: 0.6,
          goal: 0.75,
        },
      ],
      figures,
    };
  } finally {
    await bare.stop();
    await ours.stop();
  }
}
