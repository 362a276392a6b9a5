import { buildContext } from '../../src/compose.ts';
import { startWebhookWorker } from '../../src/domain/webhooks/worker.ts';
import { testClock } from '../../src/kernel/clock.ts';
import { loadConfig } from '../../src/kernel/config/config.ts';
import { createLog } from '../../src/kernel/log.ts';
import { eventRoutes } from '../../src/platform/events/routes.ts';
import { startSequencer } from '../../src/platform/events/sequencer.ts';
import { buildServer } from '../../src/platform/http/server.ts';

/**
 * The first message to a node, which runs in its own process so that a test can kill it. The node sequences events,
 * delivers webhooks and, if `serve` is set, serves the event log.
 */
export type EventNodeSettings = {
  env: Record<string, string>;
  databaseUrl: string;
  /**
   * The port on which to serve the event log, and the time on the clock of the test's own app. That app issues the
   * tokens with which clients read the log, so the node must agree with the app on the time.
   */
  serve?: { port: number; now: number };
};

process.once('message', async (message) => {
  const { env, databaseUrl, serve } = message as EventNodeSettings;
  const { ctx } = await buildContext({
    config: loadConfig(env),
    baseUrl: 'http://causeway.test',
    databaseUrl,
    log: createLog({ level: 'error', pretty: false }),
    ...(serve !== undefined && { clock: testClock(serve.now) }),
  });
  startSequencer(ctx);
  await startWebhookWorker(ctx);
  if (serve !== undefined) {
    const server = await buildServer(ctx, eventRoutes);
    await server.listen({ host: '127.0.0.1', port: serve.port });
  }
  process.send?.('ready');
});
process.on('disconnect', () => process.exit());
