import { randomBytes } from 'node:crypto';
import { createPasswordQueue } from './domain/accounts/password.ts';
import { createGuard } from './domain/oauth/guard.ts';
import { createOAuth } from './domain/oauth/server.ts';
import { createCatalogue } from './domain/offers/offer.ts';
import { createFactsOpener } from './domain/pii/sealed-data.ts';
import { openSanctions } from './domain/screening/list.ts';
import { assertNotHeld } from './domain/users/account.ts';
import { permissionSupplier } from './domain/wallets/permission-supplier.ts';
import { openWebhookSender } from './domain/webhooks/sender.ts';
import { createReadiness } from './edges/operations/readiness.ts';
import { type Clock, realClock } from './kernel/clock.ts';
import type { Config } from './kernel/config/config.ts';
import { type Random, systemRandom } from './kernel/ids.ts';
import type { Log } from './kernel/log.ts';
import { createMetrics } from './kernel/metrics.ts';
import { createSealing } from './kernel/sealing.ts';
import { createSignal } from './kernel/signal.ts';
import { createRefusalRecorder } from './platform/audit/refusal-recorder.ts';
import { openChains } from './platform/chain/open-chains.ts';
import { createSignatures } from './platform/chain/signatures.ts';
import { readEpoch } from './platform/chain/solana/reads.ts';
import type { Context } from './platform/context/context.ts';
import type { EventStreams, Sanctions } from './platform/context/ports.ts';
import { claimSecrets } from './platform/db/installation.ts';
import { assertListening, openListener } from './platform/db/listen.ts';
import { nodeLockStatement } from './platform/db/node.ts';
import { assertDiskSpace, type Db, openPool, pingDatabase } from './platform/db/pool.ts';
import { assertClock } from './platform/db/server-facts.ts';
import { createSessionCheck } from './platform/db/session-check.ts';
import { createEventStreams } from './platform/events/streams.ts';
import { commitOn } from './platform/http/for-request.ts';
import { securityHeaders } from './platform/http/replies.ts';
import { createDeadlines } from './platform/limits/deadline.ts';
import { limitFailures } from './platform/limits/failed-authentication.ts';
import { watchOverload } from './platform/limits/overload.ts';
import { countRefusals, memoryLimiter, postgresLimiter } from './platform/limits/rate-limits.ts';
import { openSigners } from './platform/operator/signers.ts';
import { openSolanaSigners } from './platform/operator/solana-signers.ts';
import { createCallQueue, inLane } from './platform/outbound/in-lane.ts';
import { cacheVenue } from './platform/providers/cached-venue.ts';
import { openDocuseal } from './platform/providers/docuseal.ts';
import { openOndo } from './platform/providers/ondo.ts';
import { openSumsub } from './platform/providers/sumsub.ts';
import {
  unconfiguredDocuments,
  unconfiguredIdentity,
  unconfiguredVenue,
} from './platform/providers/unconfigured.ts';

export type ComposedContext = { ctx: Context; close(): Promise<void> };

type ContextOptions = {
  config: Config;
  baseUrl: string;
  databaseUrl: string;
  log: Log;
  clock?: Clock;
  random?: Random;
};

async function openLimiter({ rateLimits, redisUrl }: Config, db: Db, warn: (message: string) => void) {
  if (rateLimits === 'redis')
    return (await import('./platform/limits/redis-limits.ts')).openRedisLimiter(String(redisUrl), warn);
  return {
    limiter: rateLimits === 'postgres' ? postgresLimiter(db) : memoryLimiter(),
    close: () => undefined,
  };
}

/** Builds all long-lived objects of a node; `close` releases them. */
export async function buildContext({
  config,
  baseUrl,
  databaseUrl,
  log,
  clock = realClock(),
  random = systemRandom,
}: ContextOptions): Promise<ComposedContext> {
  const warn = (message: string) => log.warn(message);
  const database = openPool(databaseUrl, {
    ...{ max: config.databasePool, log: warn },
    onFullDisk: () => readiness.reportFullDisk(),
  });
  const { pool, db, tagged } = database;
  const deadlines = createDeadlines();
  const node = randomBytes(4).readInt32BE() & 0x7fffffff;
  const listener = await openListener(config.databaseListenUrl ?? databaseUrl, warn, {
    opening: nodeLockStatement(node),
  });
  const checkSessions = await createSessionCheck(pool, listener);
  const sealing = createSealing(config.secrets, random);
  const limits = await openLimiter(config, db, warn);
  const metrics = createMetrics();
  const overload = watchOverload(database, config, metrics.registry);
  const identity =
    config.identity === null ? unconfiguredIdentity() : openSumsub(config.identity, metrics.registry);
  const documents =
    config.documents === null ? unconfiguredDocuments() : openDocuseal(config.documents, metrics.registry);
  const chains = openChains({ urls: config.rpcUrls, freshnessMs: config.rpcFreshnessMs, now: clock.now });
  const openVenue = () =>
    config.venue === null ? unconfiguredVenue() : openOndo(config.venue, metrics.registry);
  const venue = cacheVenue(openVenue(), clock);
  const readiness = createReadiness(
    new Map([
      ['database', () => pingDatabase(pool)],
      [
        'listener',
        async () => {
          assertListening(listener);
          await checkSessions();
        },
      ],
    ]),
    new Map([
      ['clock', () => assertClock(pool)] as const,
      ['disk', () => assertDiskSpace(pool)] as const,
      ...chains
        .all()
        .map(
          ({ name, client }) => [`rpc:${name}`, async () => void (await client.getBlockNumber())] as const,
        ),
      ...chains
        .allSolana()
        .map((chain) => [`rpc:${chain.name}`, async () => void (await readEpoch(chain))] as const),
    ]),
    log,
  );
  const base = {
    config,
    baseUrl,
    log,
    clock,
    random,
    sealing,
    openPiiFacts: createFactsOpener(sealing),
    pool,
    db,
    taggedDb: tagged,
    laneOf: database.laneOf,
    listener,
    node,
    limiter: countRefusals(limits.limiter, (limit) => metrics.rateLimited.inc({ limit })),
    failedAuthentication: limitFailures(config.limits.failed_authentication),
    passwordQueue: createPasswordQueue(),
    deadlines,
    overload,
    securityHeaders: securityHeaders(baseUrl),
    metrics,
    eventsAppended: createSignal(),
    requestId: null,
    requestPartnerId: null,
    identity,
    documents,
    chains,
    signatures: createSignatures(chains),
    venue,
    webhooks: openWebhookSender({
      ...{ allowCidrs: config.webhookAllowCidrs ?? [], baseUrl, proxyUrl: config.webhookProxy },
      onResult: ({ status, error }) =>
        metrics.webhookAttempts.inc({ outcome: error ?? `${Math.floor((status ?? 0) / 100)}xx` }),
    }),
    readiness,
    assertMayWrite: (userId: string) => assertNotHeld(database, userId),
    recordRefusal: createRefusalRecorder({ db, log }),
    commitReply: commitOn(db),
  };
  let sanctions: Sanctions | undefined;
  let streams: EventStreams | undefined;
  const close = async () => {
    sanctions?.close();
    streams?.close();
    deadlines.stop();
    overload.stop();
    limits.close();
    await Promise.all([identity.close(), documents.close()]);
    await listener.close();
    await chains.close();
    await venue.close();
    await base.webhooks.close();
    await pool.end();
  };
  try {
    await claimSecrets(db, sealing);
    sanctions = await openSanctions(config.sanctionsFile, base);
    const guard = await createGuard(base);
    streams = await createEventStreams({ ...base, guard });
    const parts = { clock, log, registry: metrics.registry };
    const { signerOf, retired } = await openSigners(config, parts);
    const ctx: Context = {
      ...base,
      sanctions,
      signerOf,
      retiredSigners: retired,
      supplier: permissionSupplier(signerOf, clock),
      solanaSignerOf: await openSolanaSigners(config, parts),
      guard,
      streams,
      oauth: await createOAuth({ ...base, guard }),
      offers: await createCatalogue(base),
      forPartner: (partnerId) => partnerContext(partnerId),
    };
    const partnerContext = sharePartners(ctx);
    return { ctx, close };
  } catch (error) {
    await close();
    throw error;
  }
}

const MAX_PARTNER_CONTEXTS = 1_000;

/**
 * Creates `forPartner`, the function that returns a partner's context. Each partner has a separate lane in the queues
 * for the database, the chains and the providers. Contexts are cached, because creating one for each request would be
 * slow.
 */
function sharePartners(ctx: Context): Context['forPartner'] {
  const { identity, documents, venue, signatures } = ctx;
  const queues = {
    identity: createCallQueue('identity'),
    documents: createCallQueue('documents'),
    venue: createCallQueue('venue'),
  };
  const contexts = new Map<string, Context>();
  const createContext = (lane: string): Context => {
    const { db, tagged } = ctx.laneOf(lane);
    const chains = ctx.chains.inLane(lane);
    return {
      ...ctx,
      chains,
      signatures: signatures.on(chains),
      db,
      taggedDb: tagged,
      commitReply: commitOn(db),
      assertMayWrite: (userId) => assertNotHeld({ db }, userId),
      identity: inLane(
        identity,
        ['createToken', 'findApplicant', 'resetApplicant', 'moveToLevel'],
        queues.identity,
        lane,
      ),
      documents: inLane(documents, ['create', 'find', 'read', 'resend', 'archive'], queues.documents, lane),
      // The venue's other methods need no queue, because their results are cached.
      venue: inLane(venue, ['attest', 'tradingLimits'], queues.venue, lane),
    };
  };
  return (partnerId) => {
    const known = contexts.get(partnerId);
    if (known !== undefined) return known;
    if (contexts.size >= MAX_PARTNER_CONTEXTS) contexts.clear();
    const created = createContext(partnerId);
    contexts.set(partnerId, created);
    return created;
  };
}
