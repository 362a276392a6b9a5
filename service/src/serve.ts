import { setFlagsFromString } from 'node:v8';
import { buildContext } from './compose.ts';
import { accountsPlugin } from './domain/accounts/routes.ts';
import { accountDataPlugin } from './domain/erasure/plugin.ts';
import { oauthPlugin } from './domain/oauth/plugin.ts';
import { recordRefundLimit } from './domain/participations/refund-store.ts';
import { findSwapProblems } from './domain/tokenized/swap-domain.ts';
import type { CommandHelp } from './edges/cli/command.ts';
import { browserPages } from './edges/operations/browser-pages.ts';
import { serveMetrics } from './edges/operations/metrics-server.ts';
import { referencePlugin } from './edges/operations/reference.ts';
import { registerServiceMetrics } from './edges/operations/service-metrics.ts';
import { apiRoutes } from './edges/routes.ts';
import { startWorkers } from './edges/workers.ts';
import { type Clock, realClock, testClock } from './kernel/clock.ts';
import { type Config, ConfigError, makeDataDir } from './kernel/config/config.ts';
import { createLog, flushOnExit, type Log } from './kernel/log.ts';
import { plural } from './kernel/plural.ts';
import { leaveUnfinished, type Started, stopAll, stopTogether } from './kernel/shutdown.ts';
import { auditPlugin } from './platform/audit/plugin.ts';
import { findChainIdProblems } from './platform/chain/evm/node-reads.ts';
import { findClusterProblems } from './platform/chain/solana/client.ts';
import type { Context } from './platform/context/context.ts';
import { assertProfile, claimProfile } from './platform/db/installation.ts';
import { migrate } from './platform/db/migrate.ts';
import { openPool } from './platform/db/pool.ts';
import { assertSessions } from './platform/db/session-check.ts';
import { prepareDrain } from './platform/http/drain.ts';
import { freePort, httpOrigin, listenOrExplain } from './platform/http/listening.ts';
import { buildServer } from './platform/http/server.ts';
import { listSenders } from './platform/operator/signers.ts';

export const help: CommandHelp = {
  usage: ['serve'],
  description:
    'Runs the service until it receives SIGTERM or SIGINT, then finishes open requests and exits. Without settings it starts a complete sandbox: an embedded PostgreSQL, local chains, simulated providers, sample data and the demo app. Production needs CAUSEWAY_PROFILE=production and the settings in docs/configuration.md.',
  examples: { serve: 'Start the sandbox on port 8080 (PORT sets the port, CAUSEWAY_DATA the data folder)' },
};

const STOP_TIMEOUT_MS = 9_000;
/**
 * How many connections may wait until the node accepts them, if the operating system allows it. Of those that do not
 * fit, Linux drops the first packet, and the client tries again only after seconds.
 */
const BACKLOG = 8_192;

/** Runs the service until SIGTERM or SIGINT. Then stops everything that it has started, in reverse order. */
export async function serve(config: Config): Promise<void> {
  const isSandbox = config.profile === 'sandbox';
  const log = createLog({ level: config.logLevel, pretty: isSandbox });
  flushOnExit(log);
  const print = isSandbox
    ? (text: string) => void process.stdout.write(`${text}\n`)
    : (text: string) => log.info(text);
  for (const warning of config.warnings) log.warn(warning);
  if (isSandbox) makeDataDir(config.dataDir);
  const started: Started = [];
  let stopping: Promise<void> | undefined;
  const stop = () => (stopping ??= stopAll(started));
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      setTimeout(() => process.exit(1), STOP_TIMEOUT_MS).unref();
      stop().then(
        () => process.exit(0),
        () => process.exit(1),
      );
    });
  }
  try {
    const ready = await start(config, print, log, started);
    // Restores V8's default. `bin/causeway.mjs` sets the factor to 1 during startup.
    setFlagsFromString('--semi-space-growth-factor=2');
    print(ready);
  } catch (error) {
    await stop();
    throw error;
  }
}

async function start(
  config: Config,
  print: (text: string) => void,
  log: Log,
  started: Started,
): Promise<string> {
  const clock = config.clock === 'test' ? testClock(Date.now()) : realClock();
  const outside: Started = [];
  started.push((forceAfterMs) => stopTogether(outside, forceAfterMs));
  const [databaseUrl, sandbox] = await settleAll([
    openDatabase(config, print, outside),
    config.profile === 'sandbox' ? startSandbox(config, clock, print, outside) : null,
  ]);
  const port = config.port === 0 ? await freePort(config.host) : config.port;
  const baseUrl = config.publicUrl ?? httpOrigin(config.host, port);
  const parts = { config: { ...config, ...sandbox?.settings }, baseUrl, databaseUrl, log, clock };
  const { ctx, close } = await buildContext(parts);
  started.push(leaveUnfinished(close));
  const { chains } = ctx;
  const wrongChains = (
    await Promise.all([
      ...chains.all().map(findChainIdProblems),
      ...chains.allSolana().map(findClusterProblems),
    ])
  ).flat();
  if (wrongChains.length > 0) throw new ConfigError(wrongChains);

  registerServiceMetrics(ctx);
  const controls = (await sandbox?.attach(ctx)) ?? null;
  // On shutdown, the workers and the server stop concurrently. The server finishes its open requests before it closes.
  const running: Started = [];
  started.push(leaveUnfinished((forceAfterMs) => stopTogether(running, forceAfterMs)));
  const problems = await findSwapProblems(ctx);
  if (problems.length > 0) throw new ConfigError(problems);
  await recordRefundLimit(ctx.db, config.refundDailyLimitUsd);
  await startWorkers(ctx, running);
  process.on('SIGHUP', () => void ctx.sanctions.reload());
  const routes = [...apiRoutes, ...(controls?.routes ?? [])];
  const plugins = [
    ...[
      referencePlugin(ctx, controls?.document ?? null),
      oauthPlugin(ctx),
      accountsPlugin(ctx),
      accountDataPlugin(ctx),
      auditPlugin(ctx),
    ],
    ...(controls?.plugins ?? []),
  ];
  const app = await buildServer(ctx, routes, plugins, browserPages(ctx, controls?.landing ?? null));
  const drain = prepareDrain(app, ctx.readiness.drain);
  await listenOrExplain('HOST, PORT', config.host, port, () =>
    app.listen({ host: config.host, port, backlog: BACKLOG }),
  );
  running.push(drain);
  const metrics = await listenOrExplain(
    'METRICS_HOST, METRICS_PORT',
    config.metrics.host,
    config.metrics.port,
    () => serveMetrics(ctx.metrics, config.metrics),
  );
  running.push(metrics.close);
  return readyBlock(baseUrl, metrics.url, describeOperators(ctx), controls?.readyLines ?? []);
}

/** Loads the sandbox package. Only the sandbox profile may load it. */
async function startSandbox(config: Config, clock: Clock, print: (text: string) => void, started: Started) {
  const sandbox = await (await import('@causeway/sandbox/start.ts')).startSandbox(config, clock, print);
  started.push(sandbox.stop);
  return sandbox;
}

/**
 * Like `Promise.all`, but does not throw before all promises have settled. This ensures that nothing is still starting
 * when the caller stops the parts that have started.
 */
async function settleAll<A, B>(parts: [Promise<A>, Promise<B> | null]): Promise<[A, B | null]> {
  const results = await Promise.allSettled(parts);
  for (const result of results) if (result.status === 'rejected') throw result.reason;
  return Promise.all(parts);
}

async function openDatabase(
  config: Config,
  print: (text: string) => void,
  started: Started,
): Promise<string> {
  const url = config.databaseUrl ?? (await startDatabase(config, print, started));
  const listenUrl = config.databaseListenUrl ?? url;
  // Skips `assertSessions` for the embedded server. The check looks for a connection pooler that breaks our sessions,
  // and the embedded server has none.
  const isEmbedded = config.databaseUrl === null && config.databaseListenUrl === null;
  if (!isEmbedded) await assertSessions(url, listenUrl);
  await prepareDatabase(listenUrl, config, print);
  return url;
}

async function startDatabase(
  config: Config,
  print: (text: string) => void,
  started: Started,
): Promise<string> {
  print('Starting the embedded PostgreSQL …');
  const { startPostgres } = await import('@causeway/sandbox/postgres/server.ts');
  const database = await startPostgres({ dataDir: config.dataDir, log: print });
  started.push(database.stop);
  return database.url;
}

/** Throws `ConfigError` if the database belongs to the other profile. */
async function prepareDatabase(
  databaseUrl: string,
  { profile }: Config,
  print: (text: string) => void,
): Promise<void> {
  const { pool } = openPool(databaseUrl, { max: 1 });
  try {
    await assertProfile(pool, profile);
    const applied = await migrate(pool);
    if (applied.length > 0) print(`Applied ${plural(applied.length, 'migration')}.`);
    await claimProfile(pool, profile);
  } finally {
    await pool.end();
  }
}

function describeOperators({ chains, signerOf }: Context): string | null {
  const signers = chains.all().flatMap(({ name }) => listSenders(signerOf, name));
  const addresses = new Set(signers.map(({ signer }) => signer.address));
  return addresses.size === 0 ? null : [...addresses].join(', ');
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
    `  Operator   ${operator ?? 'no key: this process settles nothing'}`,
    ...(lines.length > 0 ? lines : ['', `  curl ${baseUrl}/health/ready`]),
    '',
  ].join('\n');
}
