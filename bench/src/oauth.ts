import { compare, startTarget, type Target } from './load.ts';
import type { OurTargets } from './oauth-ours.ts';
import type { Result } from './result.ts';

/** Introspection against the library's own with its in-memory store, and what the bearer guard costs a GET. */
export async function run(): Promise<Result> {
  const library = await startTarget<Target>('./oauth-library.ts');
  const ours = await startTarget<OurTargets>('./oauth-ours.ts');
  const unsure = await startTarget<OurTargets>('./oauth-ours.ts', ['--without-cache']);
  try {
    const introspection = await compare({
      'introspection, library in memory': library.target,
      'introspection, ours on PostgreSQL': ours.target.introspect,
      'introspection, ours with a read each': unsure.target.introspect,
    });
    const guard = await compare({
      'GET without a token': ours.target.open,
      'GET with a known token': ours.target.guarded,
    });
    const ratio =
      introspection['introspection, ours on PostgreSQL'].requestsPerSecond /
      introspection['introspection, library in memory'].requestsPerSecond;
    const kept =
      guard['GET with a known token'].requestsPerSecond / guard['GET without a token'].requestsPerSecond;
    return {
      name: 'Sign-in: introspection and the bearer guard',
      bars: [
        { label: 'introspection against oidc-provider in memory', value: ratio, min: 2 },
        { label: 'an authenticated GET against an unauthenticated one', value: kept, min: 0.85 },
      ],
      figures: { ...introspection, ...guard },
    };
  } finally {
    await library.stop();
    await ours.stop();
    await unsure.stop();
  }
}
