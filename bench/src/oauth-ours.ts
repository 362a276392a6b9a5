import { partnerRoute, publicRoute } from '@causeway/service/http/route.ts';
import { buildServer } from '@causeway/service/http/server.ts';
import { createGuard } from '@causeway/service/oauth/guard.ts';
import { oauthRoutes } from '@causeway/service/oauth/routes.ts';
import { benchContext } from './context.ts';
import { Items, items } from './kernel-list.ts';
import type { Target } from './target.ts';

export type OurTargets = { introspect: Target; guarded: Target; open: Target };

const { ctx, token, clientId, clientSecret } = await benchContext();
// With `--without-cache`, the guard reads the database for every check, as it does while it cannot receive the database
// notifications that keep its cache up to date.
const isConnected = process.argv.includes('--without-cache') ? () => false : ctx.listener.isConnected;
const guard = await createGuard({ ...ctx, listener: { ...ctx.listener, isConnected } });

const list = { method: 'GET', summary: 'List', reply: Items, handle: async () => items } as const;
const routes = [
  ...oauthRoutes,
  partnerRoute('offers:read', { ...list, path: '/v1/guarded', operationId: 'listGuarded' }),
  publicRoute({ ...list, path: '/v1/open', operationId: 'listOpen' }),
];
const app = await buildServer({ ...ctx, guard }, routes);
const url = await app.listen({ host: '127.0.0.1', port: 0 });
const targets: OurTargets = {
  introspect: {
    url: `${url}/oauth/introspect`,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token, client_id: clientId, client_secret: clientSecret }),
  },
  guarded: { url: `${url}/v1/guarded`, headers: { authorization: `Bearer ${token}` } },
  open: { url: `${url}/v1/open` },
};
process.send?.(targets);
