import { buildContext } from '../../src/compose.ts';
import { apiRoutes } from '../../src/edges/routes.ts';
import { testClock } from '../../src/kernel/clock.ts';
import { loadConfig } from '../../src/kernel/config/config.ts';
import { createLog } from '../../src/kernel/log.ts';
import { buildServer } from '../../src/platform/http/server.ts';

/** The first message to a service node, which runs in its own process so that a test can kill it. */
export type NodeSettings = {
  env: Record<string, string>;
  databaseUrl: string;
  /** The time to which the node's clock is set. */
  now: number;
};

process.once('message', async (message) => {
  const { env, databaseUrl, now } = message as NodeSettings;
  const log = createLog({ level: 'error', pretty: false });
  const { ctx } = await buildContext({
    config: loadConfig(env),
    baseUrl: 'http://causeway.test',
    databaseUrl,
    log,
    clock: testClock(now),
  });
  const app = await buildServer(ctx, apiRoutes, []);
  process.send?.({ url: await app.listen({ host: '127.0.0.1', port: 0 }) });
});
process.on('disconnect', () => process.exit());
