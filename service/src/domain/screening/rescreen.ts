import { Gauge } from 'prom-client';
import { toTimestamp } from '../../kernel/wire.ts';
import type { Context } from '../../platform/context/context.ts';
import { startInterval } from '../../platform/jobs/interval.ts';
import { listOpenByWallets } from '../holdings/order-store.ts';
import { freezeParticipations } from '../holdings/participation-store.ts';
import { listByAddresses } from '../proofs/store.ts';
import { makeWalletsDue } from '../wallets/store.ts';
import { logHits, recordHits } from './hits.ts';
import { countOpenHits, type Finding, lockScreening, markScreened, withoutCleared } from './store.ts';

/** If the list changes while a wallet is being bound, only a later screening can find that wallet. */
const SCREENING_INTERVAL_MS = 60_000;

type Parts = Pick<Context, 'db' | 'clock' | 'random' | 'log' | 'sanctions'>;

/**
 * Freezes the participations of listed wallets. Records a hit for each listed wallet of a user, each newly frozen
 * participation, and each open order of a listed wallet. Returns the new hits.
 */
export async function rescreen(ctx: Parts): Promise<Finding[]> {
  const { db, clock, sanctions } = ctx;
  const hash = sanctions.hash();
  if (hash === null) return [];
  const hits = await db.transaction().execute(async (tx) => {
    await lockScreening(tx);
    const addresses = await withoutCleared(tx, [...sanctions.addresses()]);
    const wallets = await listByAddresses(tx, addresses);
    const participations = await freezeParticipations(tx, addresses);
    const orders = await listOpenByWallets(tx, addresses);
    await makeWalletsDue(tx, addresses);
    const recorded = await recordHits(ctx, tx, [
      ...wallets.map((row) => ({ ...row, subject: 'wallet' as const })),
      ...participations.map((row) => ({ ...row, subject: 'participation' as const })),
      ...orders.map((row) => ({ ...row, subject: 'order' as const })),
    ]);
    await markScreened(tx, hash, toTimestamp(clock.micros()));
    return recorded;
  });
  logHits(ctx, hits);
  return hits;
}

/** At start, after every change to the list and at regular intervals. Any number of nodes may run this. */
export function startScreening(ctx: Context): () => Promise<void> {
  const hits = new Gauge({
    name: 'causeway_sanctions_hits',
    help: 'Sanctions hits that no operator has cleared.',
    registers: [ctx.metrics.registry],
  });
  const screen = async () => {
    await rescreen(ctx);
    hits.set(await countOpenHits(ctx.db));
  };
  let running = Promise.resolve();
  const screenNow = () => {
    running = running.then(() =>
      screen().catch((err: unknown) => ctx.log.error({ err }, 'sanctions screening failed')),
    );
  };
  ctx.sanctions.onChange(screenNow);
  screenNow();
  const stop = startInterval(ctx, SCREENING_INTERVAL_MS, 'sanctions screening failed', screen);
  return async () => {
    await stop();
    await running;
  };
}
