import type { Hex } from 'viem';
import { readOutcome } from '../chain/evm/tokenized-swap.ts';
import type { Context } from '../context.ts';
import { appendEvent } from '../events/event.ts';
import { toTimestamp } from '../http/wire.ts';
import { startInterval } from '../jobs/interval.ts';
import { orderEvent } from './order-event.ts';
import { listOpen, moveOrder, releaseOrder, type StoredOrder, saveTransactionHash } from './store.ts';

const WATCH_INTERVAL_MS = 2_000;
const BATCH_SIZE = 500;

/** Reads the outcome of issued calldata from the chains. Safe to run on any number of nodes. */
export async function settleOrders(ctx: Context): Promise<void> {
  const open = await listOpen(ctx.db, BATCH_SIZE);
  await Promise.all(
    open.map((order) =>
      settleOrder(ctx, order).catch((err: unknown) =>
        ctx.log.debug({ err, chain: order.chain }, 'order lookup failed'),
      ),
    ),
  );
}

async function settleOrder(ctx: Context, order: StoredOrder): Promise<void> {
  if (order.state !== 'live') return abandonOrder(ctx, order);
  if (order.attestation === null) return;
  const chain = ctx.chains.evm(order.chain);
  const { executed, isOver } = await readOutcome(chain, toOutcomeQuery(order), chain.facts.confirmations);
  if (executed !== null) return finishOrder(ctx, order, 'executed', executed);
  if (isOver) return finishOrder(ctx, order, 'expired', null);
}

/** Ends an expired order whose calldata was never issued, and so cannot be executed. */
async function abandonOrder(ctx: Context, { id, state, expires_at }: StoredOrder): Promise<void> {
  if (Date.parse(expires_at) >= ctx.clock.now()) return;
  await moveOrder(ctx.db, id, state, { state: 'abandoned', holding: false }, toTimestamp(ctx.clock.micros()));
}

async function finishOrder(
  ctx: Context,
  order: StoredOrder,
  state: 'executed' | 'expired',
  hash: Hex | null,
): Promise<void> {
  const { id } = order;
  const now = toTimestamp(ctx.clock.micros());
  await ctx.db.transaction().execute(async (tx) => {
    if (!(await moveOrder(tx, id, 'live', { state, holding: false }, now))) return;
    if (hash !== null) await saveTransactionHash(tx, id, hash);
    const quantity = order.attestation?.quantity ?? null;
    await appendEvent(ctx, tx, orderEvent(order, state, { quantity, hash }));
  });
}

/** Releases an order that is executed in the latest block, even if that block is not final yet. */
export async function releaseIfExecuted(ctx: Context, order: StoredOrder): Promise<boolean> {
  if (order.state !== 'live' || order.attestation === null) return false;
  const { executed } = await readOutcome(ctx.chains.evm(order.chain), toOutcomeQuery(order), 1);
  if (executed === null) return false;
  await releaseOrder(ctx.db, order.id, toTimestamp(ctx.clock.micros()));
  return true;
}

function toOutcomeQuery({ swap, wallet, token, asset, attestation, from_block }: StoredOrder) {
  return {
    ...{ swap, wallet, input: token, output: asset, fromBlock: from_block ?? 0n },
    attestationId: attestation?.attestationId ?? 0n,
    expiration: attestation?.expiration ?? 0n,
  };
}

export function startOrderWatch(ctx: Context): () => Promise<void> {
  return startInterval(ctx, WATCH_INTERVAL_MS, 'order watch failed', () => settleOrders(ctx));
}
