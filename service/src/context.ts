import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import { type Chains, openChains } from './chain/client.ts';
import { openOperatorKey } from './chain/operator-key.ts';
import { createSignatures, type Signatures } from './chain/signatures.ts';
import type { Signer } from './chain/signer.ts';
import { type Clock, realClock } from './clock.ts';
import type { Config } from './config.ts';
import { type Listener, openListener } from './db/listen.ts';
import { nodeLockStatement } from './db/node.ts';
import { type Db, openPool } from './db/pool.ts';
import { openDocuseal } from './documents/docuseal.ts';
import type { SigningProvider } from './documents/provider.ts';
import { noSigningProvider } from './documents/unconfigured.ts';
import { createDeadlines, type Deadlines } from './http/deadline.ts';
import type { Random } from './http/ids.ts';
import { type Limiter, memoryLimiter, postgresLimiter } from './http/limits.ts';
import { securityHeaders } from './http/replies.ts';
import type { IdentityProvider } from './kyc/provider.ts';
import { openSumsub } from './kyc/sumsub.ts';
import { noIdentityProvider } from './kyc/unconfigured.ts';
import type { Log } from './log.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import { createGuard, type TokenGuard } from './oauth/guard.ts';
import { createOAuth, type OAuth } from './oauth/server.ts';
import { type Catalogue, createCatalogue } from './offers/catalogue.ts';
import { createFactsOpener, type FactsOpener } from './pii/sealed.ts';
import { createSealing, type Sealing } from './sealing.ts';
import { openOndo } from './tokenized/ondo.ts';
import { absentVenue, type SharedVenue, shareVenue } from './tokenized/shared-venue.ts';
import { permissionSupplier } from './wallets/permission-supplier.ts';
import { openSanctions, type Sanctions } from './wallets/sanctions.ts';
import type { Supplier } from './wallets/supplier.ts';

/** Every live thing, built once and passed by hand. */
export type Context = {
  config: Config;
  /** Where partners and users reach us, without a slash at the end. */
  baseUrl: string;
  log: Log;
  clock: Clock;
  random: Random;
  sealing: Sealing;
  pool: pg.Pool;
  db: Db;
  listener: Listener;
  /** This process among the nodes that share the database. */
  node: number;
  limiter: Limiter;
  deadlines: Deadlines;
  securityHeaders: Record<string, string>;
  guard: TokenGuard;
  oauth: OAuth;
  offers: Catalogue;
  identity: IdentityProvider;
  signing: SigningProvider;
  openPiiFacts: FactsOpener;
  metrics: Metrics;
  chains: Chains;
  signatures: Signatures;
  sanctions: Sanctions;
  supplier: Supplier;
  /** Signs for the operator; null = nothing is settled by this process. */
  operator: Signer | null;
  venue: SharedVenue;
  /** What `/health/ready` asks: each throws when its part cannot serve. */
  checks: Map<string, () => Promise<void>>;
  /**
   * Runs the transaction whose result is the reply of the request. With an idempotency key the reply is
   * stored in that same transaction, so use it for the last write of every POST.
   */
  commitReply<T>(work: (tx: Db) => Promise<T>): Promise<T>;
};

export type Built = { ctx: Context; close(): Promise<void> };

type Parts = {
  config: Config;
  baseUrl: string;
  databaseUrl: string;
  log: Log;
  clock?: Clock;
  random?: Random;
};

export async function buildContext({
  config,
  baseUrl,
  databaseUrl,
  log,
  clock = realClock(),
  random = randomBytes,
}: Parts): Promise<Built> {
  const { pool, db } = openPool(databaseUrl, {
    max: config.databasePool,
    log: (message) => log.warn(message),
  });
  const deadlines = createDeadlines();
  const node = randomBytes(4).readInt32BE() & 0x7fffffff;
  const warn = (message: string) => log.warn(message);
  const listener = await openListener(databaseUrl, warn, { opening: nodeLockStatement(node) });
  const sealing = createSealing(config.secrets, random);
  const metrics = createMetrics();
  const identity =
    config.identity === null ? noIdentityProvider() : openSumsub(config.identity, metrics.registry);
  const signing =
    config.documents === null ? noSigningProvider() : openDocuseal(config.documents, metrics.registry);
  const chains = openChains({ urls: config.rpcUrls, freshness: config.rpcFreshness });
  const openVenue = () => (config.venue === null ? absentVenue() : openOndo(config.venue, metrics.registry));
  const kernel = {
    config,
    baseUrl,
    log,
    clock,
    random,
    sealing,
    openPiiFacts: createFactsOpener(sealing),
    pool,
    db,
    listener,
    node,
    limiter: config.rateLimits === 'postgres' ? postgresLimiter(db) : memoryLimiter(),
    deadlines,
    securityHeaders: securityHeaders(baseUrl),
    metrics,
    identity,
    signing,
    chains,
    signatures: createSignatures(chains),
    supplier: permissionSupplier(config.supplierKey, clock),
    venue: shareVenue(openVenue(), clock),
    checks: new Map([
      ['database', async () => void (await pool.query('select 1'))],
      ...chains
        .all()
        .map(
          ({ name, client }) => [`rpc:${name}`, async () => void (await client.getBlockNumber())] as const,
        ),
    ]),
    commitReply: <T>(work: (tx: Db) => Promise<T>) => db.transaction().execute(work),
  };
  let sanctions: Sanctions | undefined;
  const close = async () => {
    sanctions?.close();
    deadlines.stop();
    await Promise.all([identity.close(), signing.close()]);
    await listener.close();
    await chains.close();
    await kernel.venue.close();
    await pool.end();
  };
  try {
    sanctions = await openSanctions(config.sanctionsFile, log);
    const guard = await createGuard(kernel);
    const ctx: Context = {
      ...kernel,
      sanctions,
      operator: config.operatorKey === null ? null : await openOperatorKey(config.operatorKey, clock),
      guard,
      oauth: await createOAuth({ ...kernel, guard }),
      offers: await createCatalogue(kernel),
    };
    return { ctx, close };
  } catch (error) {
    await close();
    throw error;
  }
}
