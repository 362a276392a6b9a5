import { join } from 'node:path';
import type { Clock } from '@causeway/service/clock.ts';
import type { Config } from '@causeway/service/config.ts';
import type { Context } from '@causeway/service/context.ts';
import type { Route } from '@causeway/service/http/route.ts';
import { clockRoutes } from './clock.ts';
import { mailRoute } from './mail.ts';
import { startMailServer } from './mail-server.ts';
import { overviewRoute } from './overview.ts';
import { startOutside } from './start-outside.ts';
import { seedUsers, userRoute } from './users.ts';

/** The simulated outside world: first its servers, whose addresses the service is configured with; then, once the service's parts live, the seeds and the controls. */
export type World = {
  /** What an operator would have configured in production. */
  settings: Partial<Config>;
  join(ctx: Context): Promise<Sandbox>;
  stop(): Promise<void>;
};

export type Sandbox = { routes: Route[]; readyLines: string[] };

export async function startWorld(config: Config, clock: Clock, say: (text: string) => void): Promise<World> {
  say('Starting the simulated outside world …');
  const mailServer = await startMailServer(join(config.dataDir, 'outside', 'mail.jsonl'));
  const setting = { now_ms: clock.now(), running: config.clock === 'real' };
  const outside = await startOutside({ dataDir: config.dataDir, clock: setting, log: { info: say } });
  return {
    settings: { smtpUrl: config.smtpUrl ?? mailServer.smtpUrl },
    join: async (ctx) => {
      const users = await seedUsers(ctx);
      const overview = () => ({ base_url: ctx.baseUrl, docs_url: `${ctx.baseUrl}/docs`, users });
      const [first] = users;
      return {
        routes: [
          overviewRoute(overview),
          ...clockRoutes(outside.control),
          mailRoute(mailServer),
          userRoute(),
        ],
        readyLines: [
          '',
          `  Sign in    ${ctx.baseUrl}/sign-in  (${first?.email} / ${first?.password})`,
          '',
          `  curl ${ctx.baseUrl}/sandbox`,
        ],
      };
    },
    stop: async () => {
      await outside.stop();
      await mailServer.stop();
    },
  };
}
