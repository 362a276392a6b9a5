import type pg from 'pg';
import type { Chains } from './chain/evm/client.ts';
import type { Signatures } from './chain/signatures.ts';
import type { Clock } from './clock.ts';
import type { Config } from './config.ts';
import type { Listener } from './db/listen.ts';
import type { Db } from './db/pool.ts';
import type { DocumentProvider } from './documents/provider.ts';
import type { Deadlines } from './http/deadline.ts';
import type { Random } from './http/ids.ts';
import type { Limiter } from './http/limits.ts';
import type { IdentityProvider } from './identity/provider.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import type { TokenGuard } from './oauth/guard.ts';
import type { OAuth } from './oauth/server.ts';
import type { Catalogue } from './offers/catalogue.ts';
import type { Signer } from './operator/signer.ts';
import type { FactsOpener } from './pii/sealed.ts';
import type { Sealing } from './sealing.ts';
import type { SharedVenue } from './tokenized/shared-venue.ts';
import type { Sanctions } from './wallets/sanctions.ts';
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
  documents: DocumentProvider;
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
