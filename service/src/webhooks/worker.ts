import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from '../context.ts';
import { EVENTS_CHANNEL } from '../events/event.ts';
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
const MAX_PER_NODE = 256;
/** How long a stopping node waits for attempts; it ends the rest, which are made again later. */
const STOP_GRACE_MS = 2_000;

export type WebhookWorker = { wake(): void; stop(): Promise<void> };

/**
 * Delivers events to the webhook endpoints. Each endpoint has its own slots, so one that hangs does not delay the others.
 * Any number of nodes may run it.
 */
export async function startWebhookWorker(ctx: Context): Promise<WebhookWorker> {
  const running = new Set<Promise<void>>();
  const slots = new Map<string, number>();
  let round: Promise<void> | null = null;
  let isWoken = false;
  let isStopped = false;

  const start = (delivery: ClaimedDelivery): void => {
    const { endpoint_id: endpoint, delivery_id } = delivery;
    slots.set(endpoint, (slots.get(endpoint) ?? 0) + 1);
    const attempt = deliver(ctx, delivery)
      .catch((err: unknown) => ctx.log.warn({ err, delivery_id }, 'recording a webhook attempt failed'))
      .finally(() => {
        running.delete(attempt);
        const used = (slots.get(endpoint) ?? 1) - 1;
        if (used === 0) slots.delete(endpoint);
        else slots.set(endpoint, used);
        wake();
      });
    running.add(attempt);
  };
  const freeSlots = (endpoint: string): number =>
    Math.min(MAX_PER_ENDPOINT - (slots.get(endpoint) ?? 0), MAX_PER_NODE - running.size);

  const runRound = async (): Promise<void> => {
    for (const endpoint of await listEndpointsBehind(ctx.db)) await createDeliveries(ctx, endpoint);
    const full = [...slots].filter(([, used]) => used >= MAX_PER_ENDPOINT).map(([endpoint]) => endpoint);
    for (const endpoint of await listEndpointsWithWork(ctx.db, full)) {
      for (const claim of [claimResends, claimDeliveries]) {
        const free = freeSlots(endpoint);
        if (free > 0 && !isStopped) (await claim(ctx.db, endpoint, free)).forEach(start);
      }
    }
  };
  const run = async (): Promise<void> => {
    while (isWoken && !isStopped) {
      isWoken = false;
      await runRound().catch((err: unknown) => ctx.log.warn({ err }, 'webhook round failed'));
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
