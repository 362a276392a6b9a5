import { Gauge } from 'prom-client';
import type { Context } from '../context.ts';
import { countOpenTransactions } from '../operator/status.ts';
import { type Backlog, listBacklog } from './backlog-store.ts';
import { listPauses } from './pause-store.ts';

type Parts = Pick<Context, 'db' | 'metrics'>;
type Sample = { labels: Record<string, string>; value: number };

/**
 * Registers metrics that are read from the database when they are scraped. Every node therefore reports the same
 * values, whether it holds a lease, is blocked or has no operator key at all.
 */
export function registerSettlementGauges(ctx: Parts, chains: readonly string[]): void {
  // The metrics of one scrape share one read.
  let reading: Promise<Backlog[]> | null = null;
  const readBacklog = (): Promise<Backlog[]> => {
    reading ??= listBacklog(ctx.db).finally(() => {
      reading = null;
    });
    return reading;
  };
  const none = chains.map((chain) => ({ labels: { chain }, value: 0 }));
  register(
    ctx,
    'causeway_settlement_open_transactions',
    'Operator transactions that are not confirmed yet.',
    ['chain'],
    async () => {
      const open = await countOpenTransactions(ctx.db);
      return [...none, ...open.map(({ chain, count }) => ({ labels: { chain }, value: count }))];
    },
  );
  register(
    ctx,
    'causeway_settlement_backlog',
    'Participations that settlement has yet to finish.',
    ['chain', 'status'],
    async () =>
      (await readBacklog()).map(({ chain, status, count }) => ({
        labels: { chain, status },
        value: count,
      })),
  );
  register(
    ctx,
    'causeway_settlement_oldest_seconds',
    'Seconds since the last change of the oldest participation that settlement has yet to finish.',
    ['chain', 'status'],
    async () =>
      (await readBacklog()).map(({ chain, status, oldest_seconds }) => ({
        labels: { chain, status },
        value: oldest_seconds,
      })),
  );
  register(
    ctx,
    'causeway_settlement_paused',
    'Chains and offers whose settlement is paused, by reason.',
    ['subject', 'reason'],
    async () =>
      (await listPauses(ctx.db)).map(({ subject, reason }) => ({ labels: { subject, reason }, value: 1 })),
  );
}

function register(
  { metrics }: Parts,
  name: string,
  help: string,
  labelNames: string[],
  read: () => Promise<Sample[]>,
): void {
  new Gauge({
    ...{ name, help, labelNames, registers: [metrics.registry] },
    async collect() {
      // Reports no values while the database is unavailable, because stale ones would mislead.
      const samples = await read().catch(() => []);
      this.reset();
      for (const { labels, value } of samples) this.set(labels, value);
    },
  });
}
