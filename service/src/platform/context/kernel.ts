import type pg from 'pg';
import type { Clock } from '../../kernel/clock.ts';
import type { Config } from '../../kernel/config/config.ts';
import type { FairQueue } from '../../kernel/fair-queue.ts';
import type { Random } from '../../kernel/ids.ts';
import type { Log } from '../../kernel/log.ts';
import type { Metrics } from '../../kernel/metrics.ts';
import type { Sealing } from '../../kernel/sealing.ts';
import type { Signal } from '../../kernel/signal.ts';
import type { TransactionTags } from '../db/dialect.ts';
import type { Listener } from '../db/listen.ts';
import type { Db, Lane } from '../db/pool.ts';
import type { Deadlines } from '../limits/deadline.ts';
import type { FailedAuthentication } from '../limits/failed-authentication.ts';
import type { Overload } from '../limits/overload.ts';
import type { Limiter } from '../limits/rate-limits.ts';

/** The part of `Context` that depends on no feature, so that the types in each feature can refer to this part. */
export type Kernel = {
  config: Config;
  /** The public base URL, without a trailing slash. */
  baseUrl: string;
  log: Log;
  clock: Clock;
  random: Random;
  sealing: Sealing;
  /** Queries that use the pool directly bypass the lanes, which share the connections fairly between partners. */
  pool: pg.Pool;
  db: Db;
  /** Returns a database whose transactions pass `tags` (the request and its actor) to the audit log. */
  taggedDb(tags: TransactionTags): Db;
  /**
   * Returns the database of one lane. Each partner, OAuth client and IP network of callers has a lane, in which its
   * queries wait for a connection.
   */
  laneOf(lane: string): Lane;
  listener: Listener;
  /** The id of this process among the nodes that share the database. */
  node: number;
  limiter: Limiter;
  failedAuthentication: FailedAuthentication;
  /** Limits concurrent password hashing, because every hash occupies a thread and 19 MiB. Networks take turns. */
  passwordQueue: FairQueue;
  deadlines: Deadlines;
  overload: Overload;
  securityHeaders: Record<string, string>;
  metrics: Metrics;
  /** Emitted when this node appends events, shortly before their transaction commits. */
  eventsAppended: Signal;
  /**
   * The id of the request that is being handled. Null outside of requests, on public API routes, and on GET routes that
   * are not audited.
   */
  requestId: string | null;
  /** The partner whose API request is being handled. Only events for this partner contain the request id. */
  requestPartnerId: string | null;
};
