import { compare } from './compare.ts';
import { startTarget, type Target } from './target.ts';

// What the service adds to a route: access checks, rate limits, request ids, ETags, metrics and logging. The peer is a
// Fastify route that returns the same body.

const { things, offers } = await startTarget<Record<'things' | 'offers', Target>>('kernel');
const against = 'bare Fastify route with the same body';

async function startBare({ url, headers = {} }: Target): Promise<Target> {
  return startTarget('bare', { reply: await (await fetch(url, { headers })).json() });
}

await compare('authenticated GET', { ours: things, peer: await startBare(things), atLeast: 0.65, against });
await compare('`GET /v1/offers`', { ours: offers, peer: await startBare(offers), atLeast: 0.75, against });
