import { buildContext } from '../../src/compose.ts';
import { loadConfig } from '../../src/config.ts';
import { startSequencer } from '../../src/events/sequencer.ts';
import { createLog } from '../../src/log.ts';
import { startWebhookWorker } from '../../src/webhooks/worker.ts';

/** A node in its own process that only delivers webhooks, which a test can kill. */
export type WebhookNodeSettings = { env: Record<string, string>; databaseUrl: string };

process.once('message', async (message) => {
  const { env, databaseUrl } = message as WebhookNodeSettings;
  const { ctx } = await buildContext({
    config: loadConfig(env),
    baseUrl: 'http://causeway.test',
    databaseUrl,
    log: createLog({ level: 'error', pretty: false }),
  });
  startSequencer(ctx);
  await startWebhookWorker(ctx);
  process.send?.('ready');
});
process.on('disconnect', () => process.exit());
