import type { Hex } from 'viem';
import { groupBy } from '../../kernel/group-by.ts';
import { toTimestamp } from '../../kernel/wire.ts';
import { readBlocks, readFinality } from '../../platform/chain/evm/node-reads.ts';
import { type ExecutedSwap, isSwapOf, readSwaps } from '../../platform/chain/evm/tokenized-swap.ts';
import type { Context } from '../../platform/context/context.ts';
import { appendEvent, type NewEvent } from '../../platform/events/event.ts';
import { startInterval } from '../../platform/jobs/interval.ts';
import type { Attestation } from '../../platform/providers/venue.ts';
import {
  advanceSearch,
  moveOrder,
  releaseOrder,
  releaseTaken,
  type StoredOrder,
  saveTransactionHash,
  takeOpen,
} from '../holdings/order-store.ts';

const WATCH_INTERVAL_MS = 2_000;
const BATCH_SIZE = 500;
/** If the node stops during the check, others can check the orders once the lease ends. */
const LEASE_SECONDS = 30;
/** The maximum number of blocks in a log query. RPC providers reject longer ranges. */
const RANGE_BLOCKS = 2_000n;
/** The maximum number of log queries per contract in one pass. */
const MAX_RANGES = 10;
/**
 * On test chains, a reorganization can undo even `final` blocks and move an execution into blocks that were searched.
 */
const OVERLAP_BLOCKS = 64n;

/**
 * Looks up the outcomes of live orders on chain. Abandons expired orders whose calldata was never issued. Any number
 * of nodes may run this.
 */
export async function settleOrders(ctx: Context): Promise<void> {
  const open = await takeOpen(ctx.db, BATCH_SIZE, LEASE_SECONDS);
  const live = open.filter(({ state, attestation }) => state === 'live' && attestation !== null);
  const groups = [...groupBy(live, ({ chain, swap }) => `${chain} ${swap}`).values()];
  const failures: { err: unknown; chain: string; orders: number }[] = [];
  try {
    for (const order of open.filter(({ state }) => state !== 'live')) await abandonOrder(ctx, order);
    await Promise.all(
      groups.map((orders) =>
        settleGroup(ctx, orders).catch(
          (err: unknown) => void failures.push({ err, chain: orders[0]?.chain ?? '', orders: orders.length }),
        ),
      ),
    );
  } finally {
    await releaseTaken(
      ctx.db,
      open.map(({ id }) => id),
    );
  }
  for (const failure of failures) ctx.log.warn(failure, 'order lookup failed');
}

/**
 * Searches only final blocks, because a recorded outcome cannot be corrected. Starts `OVERLAP_BLOCKS` before the end
 * of the previous search.
 */
async function settleGroup(ctx: Context, orders: StoredOrder[]): Promise<void> {
  const [first] = orders;
  if (first === undefined) return;
  const chain = ctx.chains.evm(first.chain);
  const [head] = await readBlocks(chain, ['latest']);
  const { final } = await readFinality(chain, head);
  let from = orders.map(startOf).reduce((lowest, block) => (block < lowest ? block : lowest));
  let waiting = orders;
  for (let i = 0; i < MAX_RANGES && from <= final && waiting.length > 0; i++) {
    const to = from + RANGE_BLOCKS - 1n < final ? from + RANGE_BLOCKS - 1n : final;
    const { swaps, timestamp } = await readSwaps(chain, first.swap, from, to);
    const executed = waiting.flatMap((order) => {
      const log = swaps.find((each) => isSwapOf(each, toSwap(order)));
      return log === undefined ? [] : [{ order, hash: log.transactionHash }];
    });
    for (const { order, hash } of executed) await finishOrder(ctx, order, 'executed', hash);
    waiting = waiting.filter((order) => !executed.some((each) => each.order === order));
    const searched = waiting.filter((order) => startOf(order) <= to);
    await advanceSearch(
      ctx.db,
      searched.map(({ id }) => id),
      to + 1n - OVERLAP_BLOCKS,
    );
    for (const order of to === final ? searched : [])
      if (timestamp > (order.attestation?.expiration ?? timestamp))
        await finishOrder(ctx, order, 'expired', null);
    from = to + 1n;
  }
}

const startOf = ({ from_block }: StoredOrder) => from_block ?? 0n;

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
    await appendEvent(ctx, tx, orderEvent(order, state, { attestation: order.attestation, hash }));
  });
}

/** Releases an executed order even if its block is not final yet. Returns whether it was executed. */
export async function releaseIfExecuted(ctx: Context, order: StoredOrder): Promise<boolean> {
  if (order.state !== 'live' || order.attestation === null) return false;
  const chain = ctx.chains.evm(order.chain);
  const [head] = await readBlocks(chain, ['latest']);
  if (head.number < startOf(order)) return false;
  const { swaps } = await readSwaps(chain, order.swap, startOf(order), head.number);
  if (!swaps.some((each) => isSwapOf(each, toSwap(order)))) return false;
  await releaseOrder(ctx.db, order.id, toTimestamp(ctx.clock.micros()));
  return true;
}

function toSwap({ wallet, token, asset, attestation }: StoredOrder): ExecutedSwap {
  return { wallet, input: token, output: asset, attestationId: attestation?.attestationId ?? 0n };
}

export function startOrderWatch(ctx: Context): () => Promise<void> {
  return startInterval(ctx, WATCH_INTERVAL_MS, 'order watch failed', () => settleOrders(ctx));
}

type OrderFacts = Pick<
  StoredOrder,
  'id' | 'partner_id' | 'user_id' | 'offer_id' | 'symbol' | 'chain' | 'amount'
>;

export function orderEvent(
  order: OrderFacts,
  status: 'issued' | 'executed' | 'expired',
  { attestation, hash }: { attestation: Attestation | null; hash: Hex | null },
): NewEvent {
  const { id, partner_id, user_id, offer_id, symbol, chain, amount } = order;
  return {
    partnerId: partner_id,
    userId: user_id,
    type: `tokenized_swap.${status}`,
    data: {
      object: 'tokenized_swap_order',
      id,
      offer_id,
      symbol,
      chain,
      status,
      pay_input_amount: amount.toString(),
      receive_output_amount: attestation?.quantity.toString() ?? null,
      attestation_id: attestation?.attestationId.toString() ?? null,
      transaction_hash: hash,
    },
    ...(status !== 'issued' && { changes: { status: 'issued' } }),
  };
}
