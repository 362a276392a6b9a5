import { Counter, Gauge } from 'prom-client';
import { measureDueSubmissions } from '../../domain/documents/store.ts';
import { measureDueApplicants } from '../../domain/identity/store.ts';
import { measureNotices } from '../../domain/notices/store.ts';
import { measureDeliveries } from '../../domain/webhooks/endpoint-store.ts';
import type { QueueState } from '../../kernel/queue-state.ts';
import { registerScraped, shareRead } from '../../kernel/scraped-gauge.ts';
import { VERSION } from '../../kernel/version.ts';
import type { Context } from '../../platform/context/context.ts';
import type { Db } from '../../platform/db/pool.ts';
import { readClockOffset } from '../../platform/db/server-facts.ts';
import { measureOutbox } from '../../platform/mail/store.ts';

const QUEUES: Record<string, (db: Db) => Promise<QueueState>> = {
  mail: measureOutbox,
  notices: measureNotices,
  identity: measureDueApplicants,
  documents: measureDueSubmissions,
  webhooks: measureDeliveries,
};

export function registerServiceMetrics(ctx: Context): void {
  registerBuildInfo(ctx);
  registerConnections(ctx);
  registerCounts(ctx);
  registerQueues(ctx);
}

function registerBuildInfo({ metrics: { registry }, config, sealing }: Context): void {
  const labels = {
    version: VERSION,
    node_version: process.version,
    profile: config.profile,
    // Shows whether all nodes seal with the same secret. The fingerprint does not reveal the secret.
    secret_fingerprint: sealing.fingerprints[0]?.toString('hex').slice(0, 12) ?? '',
  };
  const info = new Gauge({
    name: 'causeway_build_info',
    help: 'Always 1. The labels give the versions and the profile of this node, and the fingerprint of the secret that it encrypts data with.',
    labelNames: Object.keys(labels),
    registers: [registry],
  });
  info.set(labels, 1);
}

function registerConnections({ metrics: { registry }, pool, overload, config, listener }: Context): void {
  registerScraped(
    registry,
    {
      name: 'causeway_database_connections',
      help: "This node's database connections: in use, idle, and the maximum.",
      labels: ['state'],
    },
    async () => [
      { labels: { state: 'used' }, value: pool.totalCount - pool.idleCount },
      { labels: { state: 'idle' }, value: pool.idleCount },
      { labels: { state: 'max' }, value: config.databasePool },
    ],
  );
  registerScraped(
    registry,
    {
      name: 'causeway_database_waiting',
      help: 'Statements on this node that are waiting for a connection.',
      labels: [],
    },
    async () => [{ labels: {}, value: overload.waiting() }],
  );
  registerScraped(
    registry,
    {
      name: 'causeway_database_listener_connected',
      help: '1 if this node receives database notifications. While this is 0, every token check reads the database.',
      labels: [],
    },
    async () => [{ labels: {}, value: listener.isConnected() ? 1 : 0 }],
  );
  registerScraped(
    registry,
    {
      name: 'causeway_database_clock_offset_seconds',
      help: "How far the database's clock is ahead of this node's clock. Negative if it is behind.",
      labels: [],
    },
    async () => [{ labels: {}, value: (await readClockOffset(pool)) / 1000 }],
  );
}

/** Hot paths only increment plain numbers; each scrape copies them to the counters. */
function registerCounts({ metrics: { registry }, guard, chains, venue }: Context): void {
  new Counter({
    name: 'causeway_token_cache_requests_total',
    help: 'Bearer token checks, answered from the cache (hit) or from the database (miss).',
    labelNames: ['outcome'],
    registers: [registry],
    collect() {
      this.reset();
      this.inc({ outcome: 'hit' }, guard.cacheCounts.hits);
      this.inc({ outcome: 'miss' }, guard.cacheCounts.misses);
    },
  });
  const caches = [
    ...chains.all().map(({ name, reader }) => ({ cache: name, counts: reader.cacheCounts })),
    { cache: 'venue', counts: venue.cacheCounts },
  ];
  new Counter({
    name: 'causeway_read_cache_requests_total',
    help: 'Reads from chains and the venue, answered by the cache or a call in flight (hit) or by a new call (miss).',
    labelNames: ['cache', 'outcome'],
    registers: [registry],
    collect() {
      this.reset();
      for (const { cache, counts } of caches) {
        this.inc({ cache, outcome: 'hit' }, counts.hits);
        this.inc({ cache, outcome: 'miss' }, counts.misses);
      }
    },
  });
  new Counter({
    name: 'causeway_rpc_requests_total',
    help: 'HTTP requests to RPC endpoints by outcome.',
    labelNames: ['chain', 'provider', 'endpoint', 'outcome'],
    registers: [registry],
    collect() {
      this.reset();
      for (const { name, rpc } of [...chains.all(), ...chains.allSolana()])
        for (const [i, { provider, outcomes }] of rpc.outcomes().entries())
          for (const [outcome, count] of Object.entries(outcomes))
            this.inc({ chain: name, provider, endpoint: String(i), outcome }, count);
    },
  });
}

function registerQueues({ metrics: { registry }, db }: Context): void {
  const read = shareRead(() =>
    Promise.all(Object.entries(QUEUES).map(async ([queue, measure]) => ({ queue, ...(await measure(db)) }))),
  );
  registerScraped(
    registry,
    {
      name: 'causeway_queue_length',
      help: 'Entries waiting in a queue. All nodes report the same value.',
      labels: ['queue'],
    },
    async () => (await read()).map(({ queue, length }) => ({ labels: { queue }, value: length })),
  );
  registerScraped(
    registry,
    {
      name: 'causeway_queue_oldest_seconds',
      help: 'How long the oldest entry in a queue has been waiting. All nodes report the same value.',
      labels: ['queue'],
    },
    async () =>
      (await read()).map(({ queue, oldestSeconds }) => ({ labels: { queue }, value: oldestSeconds })),
  );
}
