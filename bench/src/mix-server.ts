import type { Context } from '@causeway/service/context.ts';
import { buildServer } from '@causeway/service/http/server.ts';
import { oauthPlugin } from '@causeway/service/oauth/plugin.ts';
import { apiRoutes } from '@causeway/service/routes.ts';

/** Serves the API. `/cpu` returns the CPU microseconds that the process has used. */
export async function serveMix(ctx: Context) {
  const app = await buildServer(ctx, apiRoutes, [
    oauthPlugin(ctx),
    (scope) =>
      void scope.get('/cpu', { config: { access: { who: 'public' } } }, async () => {
        const { user, system } = process.cpuUsage();
        return { micros: user + system };
      }),
  ]);
  return { app, url: await app.listen({ host: '127.0.0.1', port: 0 }) };
}
