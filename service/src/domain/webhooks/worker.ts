import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from '../../platform/context/context.ts';
import { EVENTS_CHANNEL } from '../../platform/events/store.ts';
import { createDeliveries, deliver } from './deliver.ts';
import {
  type ClaimedDelivery,
  claimDeliveries,
  claimResends,
  listEndpointsBehind,
  listEndpointsWithWork,
} from './delivery-store.ts';

const POLL_INTERVAL_MS = 500;
const MAX_PER_ENDPOINT = 8;
/** Even if all endpoints of a partner hang, the node can still make attempts for other partners. */
const MAX_PER_PARTNER = 32;
const MAX_PER_NODE = 256;
/** The remaining attempts are then aborted, and retried later. */
const STOP_GRACE_MS = 2_000;

type WebhookWorker = { wake(): void; stop(): Promise<void> };

/**
 * The number of concurrent attempts per endpoint and per partner is limited, so that a hanging endpoint does not
 * delay others. Any number of nodes may run this worker.
 */
export async function startWebhookWorker(ctx: Context): Promise<WebhookWorker> {
  const running = new Set<Promise<void>>();
  const perEndpoint = new Map<string, number>();
  const perPartner = new Map<string, number>();
  let turn = 0;
  let round: Promise<void> | null = null;
  let isWoken = false;
  let isStopped = false;

  const start = (delivery: ClaimedDelivery): void => {
    const { endpoint_id: endpoint, partner_id: partner, delivery_id } = delivery;
    add(perEndpoint, endpoint, 1);
    add(perPartner, partner, 1);
    const attempt = deliver(ctx, delivery)
      .catch((err: unknown) => ctx.log.warn({ err, delivery_id }, 'recording a webhook attempt failed'))
      .finally(() => {
        running.delete(attempt);
        add(perEndpoint, endpoint, -1);
        add(perPartner, partner, -1);
        wake();
      });
    running.add(attempt);
  };
  const freeSlots = (endpoint: string, partner: string): number =>
    Math.min(
      MAX_PER_ENDPOINT - (perEndpoint.get(endpoint) ?? 0),
      MAX_PER_PARTNER - (perPartner.get(partner) ?? 0),
      MAX_PER_NODE - running.size,
    );
  /** A failed call is logged, and the next endpoint follows. */
  const forEach = async <E extends { id: string }>(
    endpoints: readonly E[],
    work: (endpoint: E) => Promise<void>,
  ): Promise<void> => {
    for (const endpoint of endpoints)
      await work(endpoint).catch((err: unknown) =>
        ctx.log.warn({ err, endpoint_id: endpoint.id }, 'could not process the webhooks of an endpoint'),
      );
  };

  const runRound = async (): Promise<void> => {
    await forEach(await listEndpointsBehind(ctx.db), async ({ id }) => {
      if (await createDeliveries(ctx, id)) isWoken = true;
    });
    const full = [...perEndpoint].filter(([, used]) => used >= MAX_PER_ENDPOINT).map(([id]) => id);
    const found = await listEndpointsWithWork(ctx.db, full);
    // Each round starts with a different endpoint, so that every endpoint gets a slot even if slots are scarce.
    const first = found.length === 0 ? 0 : turn++ % found.length;
    await forEach([...found.slice(first), ...found.slice(0, first)], async (endpoint) => {
      const { id, partner_id, has_resends, has_due } = endpoint;
      const claims = [...(has_resends ? [claimResends] : []), ...(has_due ? [claimDeliveries] : [])];
      for (const claim of claims) {
        const free = freeSlots(id, partner_id);
        if (free > 0 && !isStopped) (await claim(ctx.db, id, free)).forEach(start);
      }
    });
  };
  const run = async (): Promise<void> => {
    while (isWoken && !isStopped) {
      isWoken = false;
      await runRound().catch((err: unknown) => ctx.log.warn({ err }, 'could not process webhooks'));
    }
  };
  const wake = (): void => {
    if (isStopped) return;
    isWoken = true;
    round ??= run().finally(() => {
      round = null;
      if (isWoken) wake();
    });
  };

  const timer = setInterval(wake, POLL_INTERVAL_MS);
  timer.unref();
  await ctx.listener.on(EVENTS_CHANNEL, wake);
  ctx.listener.onRestored(wake);
  wake();
  return {
    wake,
    stop: async () => {
      isStopped = true;
      clearInterval(timer);
      await round;
      await Promise.race([Promise.all(running), sleep(STOP_GRACE_MS, undefined, { ref: false })]);
      await ctx.webhooks.close();
      await Promise.all(running);
    },
  };
}

function add(counts: Map<string, number>, key: string, change: 1 | -1): void {
  const next = (counts.get(key) ?? 0) + change;
  if (next === 0) counts.delete(key);
  else counts.set(key, next);
}
