import { accountsPlugin } from './accounts/routes.ts';
import { type Clock, realClock, testClock } from './clock.ts';
import { buildContext } from './compose.ts';
import { type Config, ConfigError } from './config.ts';
import { startEmbedded } from './db/embedded.ts';
import { migrate } from './db/migrate.ts';
import { openPool } from './db/pool.ts';
import { startDocumentReconciler } from './documents/reconcile.ts';
import { freePort } from './http/free-port.ts';
import { buildServer } from './http/server.ts';
import { startIdentityReconciler } from './identity/reconcile.ts';
import { startHousekeeping } from './jobs/housekeeping.ts';
import { createLog, type Log } from './log.ts';
import { smtpMailer } from './mail/smtp.ts';
import { startMailWorker } from './mail/worker.ts';
import { oauthPlugin } from './oauth/plugin.ts';
import { serveMetrics } from './operations/metrics-server.ts';
import { referencePlugin } from './operations/reference.ts';
import { apiRoutes } from './routes.ts';
import { startSettlement } from './settlement/settlement.ts';
import { findSwapProblems } from './tokenized/swap-domain.ts';
import { startOrderWatch } from './tokenized/watch.ts';
import { startAllowListWatch } from './wallets/allow-list-watch.ts';

const STOP_WITHIN = 9_000;

/** Runs until it is told to stop; everything that was started is stopped again, in the reverse order. */
export async function serve(config: Config): Promise<void> {
  const isSandbox = config.profile === 'sandbox';
  const log = createLog({ level: config.logLevel, pretty: isSandbox });
  const say = isSandbox
    ? (text: string) => void process.stdout.write(`${text}\n`)
    : (text: string) => log.info(text);
  const started: Started = [];
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

/** What a part leaves behind to be undone. */
type Started = (() => Promise<unknown>)[];

async function start(
  config: Config,
  say: (text: string) => void,
  log: Log,
  started: Started,
): Promise<string> {
  const clock = config.clock === 'test' ? testClock(Date.now()) : realClock();
  const [databaseUrl, sandbox] = await settleAll([
    openDatabase(config, say, started),
    config.profile === 'sandbox' ? startSandbox(config, clock, say, started) : null,
  ]);
  const port = config.port === 0 ? await freePort(config.host) : config.port;
  const baseUrl = config.publicUrl ?? `http://${config.host}:${port}`;
  const parts = { config: { ...config, ...sandbox?.settings }, baseUrl, databaseUrl, log, clock };
  const { ctx, close } = await buildContext(parts);
  started.push(close);

  const controls = (await sandbox?.attach(ctx)) ?? null;
  started.push((await startMailWorker(ctx, smtpMailer(ctx.config.smtpUrl ?? '', config.mailFrom))).stop);
  started.push((await startIdentityReconciler(ctx)).stop);
  started.push((await startDocumentReconciler(ctx)).stop);
  started.push(startHousekeeping(ctx));
  started.push(startAllowListWatch(ctx));
  started.push((await startSettlement(ctx)).stop);
  const problems = await findSwapProblems(ctx);
  if (problems.length > 0) throw new ConfigError(problems);
  started.push(startOrderWatch(ctx));
  process.on('SIGHUP', () => void ctx.sanctions.reload());
  const routes = [...apiRoutes, ...(controls?.routes ?? [])];
  const plugins = [
    ...[referencePlugin(ctx, apiRoutes), oauthPlugin(ctx), accountsPlugin(ctx)],
    ...(controls?.plugins ?? []),
  ];
  const app = await buildServer(ctx, routes, plugins);
  await app.listen({ host: config.host, port });
  started.push(() => app.close());
  const metrics = await serveMetrics(ctx.metrics, config.metrics);
  started.push(metrics.close);
  return readyBlock(baseUrl, metrics.url, ctx.operator?.address ?? null, controls?.readyLines ?? []);
}

/** Loaded in the sandbox profile alone. */
async function startSandbox(config: Config, clock: Clock, say: (text: string) => void, started: Started) {
  const sandbox = await (await import('@causeway/sandbox/start.ts')).startSandbox(config, clock, say);
  started.push(sandbox.stop);
  return sandbox;
}

/** Like `Promise.all`, but waits for every part, so that a failure of one does not leave another starting. */
async function settleAll<A, B>(parts: [Promise<A>, Promise<B> | null]): Promise<[A, B | null]> {
  const results = await Promise.allSettled(parts);
  for (const result of results) if (result.status === 'rejected') throw result.reason;
  return Promise.all(parts);
}

async function openDatabase(config: Config, say: (text: string) => void, started: Started): Promise<string> {
  const url = config.databaseUrl ?? (await startDatabase(config, say, started));
  await bringUpToDate(url, say);
  return url;
}

async function startDatabase(config: Config, say: (text: string) => void, started: Started): Promise<string> {
  say('Starting the embedded PostgreSQL …');
  const database = await startEmbedded({ dataDir: config.dataDir, log: say });
  started.push(database.stop);
  return database.url;
}

/** In the sandbox the other end of each wire is ours. */
async function bringUpToDate(databaseUrl: string, say: (text: string) => void): Promise<void> {
  const { pool } = openPool(databaseUrl, { max: 1 });
  try {
    const applied = await migrate(pool);
    if (applied.length > 0) say(`Applied ${applied.length} migration${applied.length === 1 ? '' : 's'}.`);
  } finally {
    await pool.end();
  }
}

function readyBlock(
  baseUrl: string,
  metricsUrl: string,
  operator: string | null,
  lines: readonly string[],
): string {
  return [
    '',
    `Causeway is ready (${process.uptime().toFixed(1)} s).`,
    '',
    `  API        ${baseUrl}`,
    `  Reference  ${baseUrl}/docs`,
    `  Metrics    ${metricsUrl}`,
    `  Operator   ${operator ?? 'no key: nothing is settled by this process'}`,
    ...(lines.length > 0 ? lines : ['', `  curl ${baseUrl}/health/ready`]),
    '',
  ].join('\n');
}

async function stopAll(started: Started): Promise<void> {
  for (const stop of started.reverse()) {
    await stop().catch((error: unknown) => console.error(error));
  }
}
