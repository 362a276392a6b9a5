import { type AddressInfo, createServer } from 'node:net';
import { accountsPlugin } from './accounts/routes.ts';
import type { Clock } from './clock.ts';
import { realClock, testClock } from './clock.ts';
import type { Config } from './config.ts';
import { buildContext } from './context.ts';
import { startEmbedded } from './db/embedded.ts';
import { migrate } from './db/migrate.ts';
import { openPool } from './db/pool.ts';
import { buildServer } from './http/server.ts';
import { createLog } from './log.ts';
import { smtpMailer } from './mail/smtp.ts';
import { startMailWorker } from './mail/worker.ts';
import { oauthPlugin } from './oauth/plugin.ts';
import { startHousekeeping } from './operations/housekeeping.ts';
import { serveMetrics } from './operations/metrics-server.ts';
import { referencePlugin } from './operations/reference.ts';
import { apiRoutes } from './routes.ts';

const STOP_WITHIN = 9_000;

/** Runs until it is told to stop; everything that was started is stopped again, in the reverse order. */
export async function serve(config: Config): Promise<void> {
  const isSandbox = config.profile === 'sandbox';
  const log = createLog({ level: config.logLevel, pretty: isSandbox });
  const say = isSandbox
    ? (text: string) => void process.stdout.write(`${text}\n`)
    : (text: string) => log.info(text);
  const started: (() => Promise<unknown>)[] = [];
  let stopping: Promise<void> | undefined;
  const stop = () => (stopping ??= stopAll(started));
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      setTimeout(() => process.exit(1), STOP_WITHIN).unref();
      stop().then(
        () => process.exit(0),
        () => process.exit(1),
      );
    });
  }
  try {
    say(await start(config, say, log, started));
  } catch (error) {
    await stop();
    throw error;
  }
}

async function start(
  config: Config,
  say: (text: string) => void,
  log: ReturnType<typeof createLog>,
  started: (() => Promise<unknown>)[],
): Promise<string> {
  const begun = performance.now();
  const clock: Clock = config.clock === 'test' ? testClock(Date.now()) : realClock();
  const databaseUrl = config.databaseUrl ?? (await startDatabase(config, say, started));
  await bringUpToDate(databaseUrl, say);

  const port = config.port === 0 ? await freePort(config.host) : config.port;
  const baseUrl = config.publicUrl ?? `http://${config.host}:${port}`;
  const { ctx, close } = await buildContext({ config, baseUrl, databaseUrl, log, clock });
  started.push(close);

  const sandbox =
    config.profile === 'sandbox'
      ? await (await import('@causeway/sandbox/start.ts')).startSandbox(ctx)
      : null;
  if (sandbox !== null) started.push(sandbox.stop);
  const mailer = smtpMailer(config.smtpUrl ?? sandbox?.smtpUrl ?? '', config.mailFrom);
  started.push((await startMailWorker(ctx, mailer)).stop);
  started.push(startHousekeeping(ctx));
  const routes = [...apiRoutes, ...(sandbox?.routes ?? [])];
  const app = await buildServer(ctx, routes, [
    referencePlugin(ctx, apiRoutes),
    oauthPlugin(ctx),
    accountsPlugin(ctx),
  ]);
  await app.listen({ host: config.host, port });
  started.push(() => app.close());
  const metrics = await serveMetrics(ctx.metrics, config.metrics);
  started.push(metrics.close);
  return readyBlock(baseUrl, metrics.url, performance.now() - begun, sandbox?.readyLines ?? []);
}

async function startDatabase(
  config: Config,
  say: (text: string) => void,
  started: (() => Promise<unknown>)[],
): Promise<string> {
  say('Starting the embedded PostgreSQL …');
  const database = await startEmbedded({ dataDir: config.dataDir, log: say });
  started.push(database.stop);
  return database.url;
}

async function bringUpToDate(databaseUrl: string, say: (text: string) => void): Promise<void> {
  const { pool } = openPool(databaseUrl, { max: 1 });
  try {
    const applied = await migrate(pool);
    if (applied.length > 0) say(`Applied ${applied.length} migration${applied.length === 1 ? '' : 's'}.`);
  } finally {
    await pool.end();
  }
}

/** The address must be known before the server is built, because tokens and documents name it. */
async function freePort(host: string): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve, reject) => probe.once('error', reject).listen(0, host, resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

function readyBlock(
  baseUrl: string,
  metricsUrl: string,
  milliseconds: number,
  lines: readonly string[],
): string {
  return [
    '',
    `Causeway is ready (${(milliseconds / 1000).toFixed(1)} s).`,
    '',
    `  API        ${baseUrl}`,
    `  Reference  ${baseUrl}/docs`,
    `  Metrics    ${metricsUrl}`,
    ...(lines.length > 0 ? lines : ['', `  curl ${baseUrl}/health/ready`]),
    '',
  ].join('\n');
}

async function stopAll(started: (() => Promise<unknown>)[]): Promise<void> {
  for (const stop of started.reverse()) {
    await stop().catch((error: unknown) => console.error(error));
  }
}
