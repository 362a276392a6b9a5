import { compare } from './compare.ts';
import { startTarget } from './target.ts';

// Introspection of an access token with client credentials. The peer is `oidc-provider` without changes, in memory.

await compare('token introspection', {
  ours: await startTarget('introspection'),
  peer: await startTarget('oidc-provider'),
  atLeast: 3,
  against: '`oidc-provider` with its in-memory store',
});
