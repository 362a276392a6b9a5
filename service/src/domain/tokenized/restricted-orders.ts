import { Gauge } from 'prom-client';
import type { Hex } from 'viem';
import type { Context } from '../../platform/context/context.ts';
import { startInterval } from '../../platform/jobs/interval.ts';
import { contractOn, findAnyOffer } from '../offers/offer.ts';
import { revokeEntry } from '../wallets/revocation.ts';
import { listLive, markRestricted, type RestrictedOrder } from './order-list-store.ts';

const ALERT_INTERVAL_MS = 1_000;

/**
 * Calldata cannot be recalled, so each order of a held user or sanctioned wallet is logged once as an error, and its
 * wallet removed from the allow-list if we maintain that. Returns how many there are.
 */
export async function alertRestricted(ctx: Context): Promise<number> {
  const live = (await listLive(ctx.db)).flatMap((order) => {
    const reason = reasonOf(ctx, order);
    return reason === null ? [] : [{ ...order, reason }];
  });
  for (const order of live.filter(({ restricted_reason }) => restricted_reason === null)) {
    const { id, user_id, chain, reason } = order;
    try {
      if (await restrict(ctx, order, reason))
        ctx.log.error(
          { order_id: id, user_id, chain, reason },
          `restricted order can still be executed: ${id}`,
        );
    } catch (err) {
      // The next check tries this order again. The other orders must not wait for it.
      ctx.log.error({ err, order_id: id, chain, reason }, 'could not handle a restricted order');
    }
  }
  return live.length;
}

function reasonOf(ctx: Context, { is_held, wallet }: RestrictedOrder): 'hold' | 'sanctions' | null {
  if (is_held) return 'hold';
  return ctx.sanctions.has(wallet) ? 'sanctions' : null;
}

/** Queues the removal of the wallet from the allow-list if we maintain it. False if another node was first. */
async function restrict(
  ctx: Context,
  { id, partner_id, offer_id, chain, wallet }: RestrictedOrder,
  reason: 'hold' | 'sanctions',
): Promise<boolean> {
  const { allow_list } = contractOn(await findAnyOffer(ctx, partner_id, offer_id), chain);
  const contract = allow_list !== null && (await isOurs(ctx, chain, allow_list)) ? allow_list : null;
  return ctx.db.transaction().execute(async (tx) => {
    if (!(await markRestricted(tx, id, reason))) return false;
    if (contract !== null) await revokeEntry(ctx, tx, { chain, contract, wallet });
    return true;
  });
}

/** True if we maintain the allow-list, or if the chain does not answer. */
async function isOurs({ chains, supplier, log }: Context, chain: string, contract: string): Promise<boolean> {
  try {
    return await supplier.canAdmit({ chain: chains.evm(chain), contract: contract as Hex });
  } catch (err) {
    log.warn({ err, chain, contract }, 'could not check who maintains the allow-list');
    return true;
  }
}

export function startRestrictedOrderAlerts(ctx: Context): () => Promise<void> {
  const gauge = new Gauge({
    name: 'causeway_restricted_orders',
    help: 'Orders that have live calldata although the user is on hold or the wallet is sanctioned.',
    registers: [ctx.metrics.registry],
  });
  return startInterval(ctx, ALERT_INTERVAL_MS, 'live calldata check failed', async () =>
    gauge.set(await alertRestricted(ctx)),
  );
}
