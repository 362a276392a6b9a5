import { join } from 'node:path';
import type { Context } from '@causeway/service/context.ts';
import type { Route } from '@causeway/service/http/route.ts';
import { clockRoutes } from './clock.ts';
import { mailRoute } from './mail.ts';
import { startMailServer } from './mail-server.ts';
import { overviewRoute } from './overview.ts';
import { seedUsers, userRoute } from './users.ts';

export type Sandbox = { routes: Route[]; readyLines: string[]; smtpUrl: string; stop(): Promise<void> };

/** Starts the simulated outside world and the controls over it. */
export async function startSandbox(ctx: Context): Promise<Sandbox> {
  const mailServer = await startMailServer(join(ctx.config.dataDir, 'outside', 'mail.jsonl'));
  const users = await seedUsers(ctx);
  const overview = () => ({ base_url: ctx.baseUrl, docs_url: `${ctx.baseUrl}/docs`, users });
  const [first] = users;
  return {
    routes: [overviewRoute(overview), ...clockRoutes, mailRoute(mailServer), userRoute()],
    readyLines: ['', `  Sign in    ${ctx.baseUrl}/sign-in  (${first?.email} / ${first?.password})`, '', `  curl ${ctx.baseUrl}/sandbox`],
    smtpUrl: mailServer.smtpUrl,
    stop: () => mailServer.stop(),
  };
}
