import { oauthRoutes } from '@causeway/service/domain/oauth/routes.ts';
import { buildServer } from '@causeway/service/platform/http/server.ts';
import { benchContext } from './context.ts';

const { ctx, token, partner } = await benchContext();
const app = await buildServer(ctx, oauthRoutes);
const { client_id, client_secret } = partner;
process.send?.({
  url: `${await app.listen({ host: '127.0.0.1', port: 0 })}/oauth/introspect`,
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ token, client_id, client_secret }),
});
