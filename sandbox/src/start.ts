import type { Context } from '@causeway/service/context.ts';
import type { Route } from '@causeway/service/http/route.ts';
import { clockRoutes } from './clock.ts';
import { overviewRoute } from './overview.ts';

export type Sandbox = { routes: Route[]; readyLines: string[]; stop(): Promise<void> };

/** Starts the simulated outside world and the controls over it. */
export async function startSandbox(ctx: Context): Promise<Sandbox> {
  const overview = () => ({ base_url: ctx.baseUrl, docs_url: `${ctx.baseUrl}/docs` });
  return {
    routes: [overviewRoute(overview), ...clockRoutes],
    readyLines: ['', `  curl ${ctx.baseUrl}/sandbox`],
    stop: async () => {},
  };
}
