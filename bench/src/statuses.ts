import { compare, ratioBars } from './load.ts';
import type { Result } from './result.ts';
import { startTarget, type Target } from './target.ts';

/**
 * Compares the route for requirement statuses, polled by web pages during onboarding, with a bare route that runs the
 * same query.
 */
export async function run(): Promise<Result> {
  const bare = await startTarget('./statuses-bare.ts');
  const ours = await startTarget('./statuses-ours.ts');
  try {
    await assertSimilarReplies(bare.target, ours.target);
    const figures = await compare({ bare, ours });
    return {
      name: 'GET /v1/offers/{offer_id}/requirements/statuses, one query',
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

/**
 * Throws if the sizes of the replies differ by more than 10%. The comparison would be unfair if the bare route sent a
 * much smaller reply.
 */
async function assertSimilarReplies(...targets: Target[]): Promise<void> {
  const sizes = await Promise.all(
    targets.map(async ({ url, headers = {} }) => (await (await fetch(url, { headers })).text()).length),
  );
  if (Math.max(...sizes) > 1.1 * Math.min(...sizes))
    throw new Error(`the replies differ in size: ${sizes.join(' and ')} characters`);
}
