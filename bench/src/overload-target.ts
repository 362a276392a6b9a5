import { buildServer } from '@causeway/service/http/server.ts';
import { apiRoutes } from '@causeway/service/routes.ts';
import { benchContext } from './context.ts';

/** Serves the whole API. `/cpu` returns the processor time that the process has used, in microseconds. */
// Uses the production limits, because a sandbox queues requests instead of rejecting them.
const { ctx, token } = await benchContext({ maxEventLoopLagMs: 200, maxPoolWaitMs: 1_000 });
const app = await buildServer(ctx, apiRoutes, [
  (scope) =>
    void scope.get('/cpu', { config: { access: { who: 'public' } } }, async () => {
      const { user, system } = process.cpuUsage();
      return { micros: user + system };
    }),
]);
process.send?.({
  url: await app.listen({ host: '127.0.0.1', port: 0 }),
  headers: { authorization: `Bearer ${token}` },
  paths: ['/v1/offers', '/v1/participations', '/v1/offers', '/v1/tokenized/swap/orders', '/v1/events'],
});
