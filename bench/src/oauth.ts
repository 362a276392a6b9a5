import { compare, ratioBars, throughputBar } from './load.ts';
import type { OurTargets } from './oauth-ours.ts';
import type { Result } from './result.ts';
import { startTarget } from './target.ts';

/**
 * Compares our token introspection with that of `oidc-provider`. Also measures what the guard, which checks the bearer
 * token, adds to the cost of a GET request.
 */
export async function run(): Promise<Result> {
  const library = await startTarget('./oauth-library.ts');
  const ours = await startTarget<OurTargets>('./oauth-ours.ts');
  const uncached = await startTarget<OurTargets>('./oauth-ours.ts', ['--without-cache']);
  try {
    const introspection = await compare({
      'introspection, oidc-provider in memory': library,
      'introspection, ours on PostgreSQL': { ...ours, target: ours.target.introspect },
      'introspection, ours without cache': { ...uncached, target: uncached.target.introspect },
    });
    const guard = await compare({
      'GET without a token': { ...ours, target: ours.target.open },
      'GET with a cached token': { ...ours, target: ours.target.guarded },
    });
    return {
      name: 'OAuth: introspection and the bearer guard',
      bars: [
        ...ratioBars(
          'oidc-provider in memory, introspection',
          introspection['introspection, ours on PostgreSQL'],
          introspection['introspection, oidc-provider in memory'],
          { min: 3, goal: 4 },
        ),
        throughputBar(
          'an unauthenticated GET, authenticated',
          guard['GET with a cached token'],
          guard['GET without a token'],
          { min: 0.85 },
        ),
      ],
      figures: { ...introspection, ...guard },
    };
  } finally {
    await library.stop();
    await ours.stop();
    await uncached.stop();
  }
}
