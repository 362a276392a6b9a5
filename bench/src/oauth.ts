import { compare, startTarget, type Target } from './load.ts';
import type { OurTargets } from './oauth-ours.ts';
import type { Result } from './result.ts';

/** Compares our token introspection with the library's, and measures the cost of the bearer guard for a GET. */
export async function run(): Promise<Result> {
  const library = await startTarget<Target>('./oauth-library.ts');
  const ours = await startTarget<OurTargets>('./oauth-ours.ts');
  const uncached = await startTarget<OurTargets>('./oauth-ours.ts', ['--without-cache']);
  try {
    const introspection = await compare({
      'introspection, oidc-provider in memory': library.target,
      'introspection, ours on PostgreSQL': ours.target.introspect,
      'introspection, ours without cache': uncached.target.introspect,
    });
    const guard = await compare({
      'GET without a token': ours.target.open,
      'GET with a cached token': ours.target.guarded,
    });
    const ratio =
      introspection['introspection, ours on PostgreSQL'].requestsPerSecond /
      introspection['introspection, oidc-provider in memory'].requestsPerSecond;
    const guardRatio =
      guard['GET with a cached token'].requestsPerSecond / guard['GET without a token'].requestsPerSecond;
    return {
      name: 'OAuth: introspection and the bearer guard',
      bars: [
        { label: 'introspection throughput relative to oidc-provider in memory', value: ratio, min: 2 },
        {
          label: 'throughput of an authenticated GET relative to an unauthenticated one',
          value: guardRatio,
          min: 0.85,
        },
      ],
      figures: { ...introspection, ...guard },
    };
  } finally {
    await library.stop();
    await ours.stop();
    await uncached.stop();
  }
}
