import { compare, startTarget, type Target } from './load.ts';
import type { Result } from './result.ts';

/** Compares the requirement statuses, which pages poll during onboarding, with a bare route that runs the same query. */
export async function run(): Promise<Result> {
  const bare = await startTarget('./statuses-bare.ts');
  const ours = await startTarget('./statuses-ours.ts');
  try {
    await assertSimilarReplies(bare.target, ours.target);
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

/**
 * Throws if the sizes of the replies differ by more than 10%: a much smaller constant reply would make the
 * comparison unfair.
 */
async function assertSimilarReplies(...targets: Target[]): Promise<void> {
  const sizes = await Promise.all(
    targets.map(async ({ url, headers = {} }) => (await (await fetch(url, { headers })).text()).length),
  );
  if (Math.max(...sizes) > 1.1 * Math.min(...sizes))
    throw new Error(`the replies differ in size: ${sizes.join(' and ')} characters`);
}
