import { Gauge } from 'prom-client';
import type { Context } from '../context.ts';
import { startInterval } from '../jobs/interval.ts';
import { contractOn, findAnyOffer } from '../offers/offer.ts';
import { revokeEntry } from '../wallets/revocation.ts';
import { isSanctioned } from '../wallets/sanctions.ts';
import { listLive, markRestricted, type RestrictedOrder } from './restricted-order-store.ts';

const ALERT_INTERVAL_MS = 1_000;

/**
 * Finds live calldata whose user is on hold or whose wallet is sanctioned. Calldata cannot be recalled, so each order is
 * reported to operators once, and its wallet is revoked where the contract keeps an allow-list. Returns how many are live.
 */
export async function alertRestricted(ctx: Context): Promise<number> {
  const live = (await listLive(ctx.db)).flatMap((order) => {
    const reason = reasonOf(ctx, order);
    return reason === null ? [] : [{ ...order, reason }];
  });
  for (const order of live.filter(({ restricted_reason }) => restricted_reason === null)) {
    const { id, user_id, chain, reason } = order;
    if (await restrict(ctx, order, reason))
      ctx.log.error(
        { order_id: id, user_id, chain, reason },
        `calldata is live for a restricted order: ${id}`,
      );
  }
  return live.length;
}

function reasonOf(ctx: Context, { is_held, wallet }: RestrictedOrder): 'hold' | 'sanctions' | null {
  if (is_held) return 'hold';
  return isSanctioned(ctx, wallet) ? 'sanctions' : null;
}

/** Returns false if another node has restricted the order. */
async function restrict(
  ctx: Context,
  { id, partner_id, offer_id, chain, wallet }: RestrictedOrder,
  reason: 'hold' | 'sanctions',
): Promise<boolean> {
  const { allow_list: contract } = contractOn(await findAnyOffer(ctx, partner_id, offer_id), chain);
  return ctx.db.transaction().execute(async (tx) => {
    if (!(await markRestricted(tx, id, reason))) return false;
    if (contract !== null) await revokeEntry(ctx, tx, { chain, contract, wallet });
    return true;
  });
}

export function startRestrictedOrderAlerts(ctx: Context): () => Promise<void> {
  const gauge = new Gauge({
    name: 'causeway_restricted_orders',
    help: 'Live calldata whose user is on hold or whose wallet is sanctioned.',
    registers: [ctx.metrics.registry],
  });
  return startInterval(ctx, ALERT_INTERVAL_MS, 'check of live calldata failed', async () =>
    gauge.set(await alertRestricted(ctx)),
  );
}
