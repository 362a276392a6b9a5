import type { Hex } from 'viem';
import { isSwapOf } from '../chain/evm/swapped-event.ts';
import { readOutcome, readSwaps } from '../chain/evm/tokenized-swap.ts';
import type { Context } from '../context.ts';
import { appendEvent } from '../events/event.ts';
import { toTimestamp } from '../http/wire.ts';
import { startInterval } from '../jobs/interval.ts';
import { orderEvent } from './order-event.ts';
import {
  advanceSearch,
  moveOrder,
  releaseOrder,
  releaseTaken,
  type StoredOrder,
  saveTransactionHash,
  takeOpen,
} from './store.ts';

const WATCH_INTERVAL_MS = 2_000;
const BATCH_SIZE = 500;
/** After this time another node may check the orders of a node that stopped. */
const LEASE_SECONDS = 30;
/** Providers reject log queries over more blocks. One pass queries at most `MAX_RANGES` ranges per contract. */
const RANGE_BLOCKS = 2_000n;
const MAX_RANGES = 10;
/** Blocks that are searched again, in case a reorganisation moved an execution. */
const OVERLAP_BLOCKS = 64n;

/** Reads the outcome of issued calldata from the chains, one query per contract. Safe to run on any number of nodes. */
export async function settleOrders(ctx: Context): Promise<void> {
  const open = await takeOpen(ctx.db, BATCH_SIZE, LEASE_SECONDS);
  const groups = groupByContract(
    open.filter(({ state, attestation }) => state === 'live' && attestation !== null),
  );
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

function groupByContract(orders: readonly StoredOrder[]): StoredOrder[][] {
  const groups = new Map<string, StoredOrder[]>();
  for (const order of orders) {
    const key = `${order.chain} ${order.swap}`;
    groups.set(key, [...(groups.get(key) ?? []), order]);
  }
  return [...groups.values()];
}

/** Settles orders of one contract from the confirmed blocks that were not searched yet. */
async function settleGroup(ctx: Context, orders: StoredOrder[]): Promise<void> {
  const [first] = orders;
  if (first === undefined) return;
  const chain = ctx.chains.evm(first.chain);
  const settled = (await chain.client.getBlockNumber()) - BigInt(chain.facts.confirmations - 1);
  const { timestamp } = await chain.client.getBlock({ blockNumber: settled });
  const startOf = ({ from_block }: StoredOrder) => from_block ?? 0n;
  let from = orders.map(startOf).reduce((lowest, block) => (block < lowest ? block : lowest));
  let waiting = orders;
  for (let i = 0; i < MAX_RANGES && from <= settled && waiting.length > 0; i++) {
    const to = from + RANGE_BLOCKS - 1n < settled ? from + RANGE_BLOCKS - 1n : settled;
    const swaps = await readSwaps(chain, first.swap, from, to);
    const executed = waiting.flatMap((order) => {
      const log = swaps.find((each) => isSwapOf(each, toOutcomeQuery(order)));
      return log === undefined ? [] : [{ order, hash: log.transactionHash }];
    });
    for (const { order, hash } of executed) await finishOrder(ctx, order, 'executed', hash);
    waiting = waiting.filter((order) => !executed.some((each) => each.order === order));
    const searched = waiting.filter((order) => startOf(order) <= to).map(({ id }) => id);
    await advanceSearch(ctx.db, searched, to + 1n - OVERLAP_BLOCKS);
    from = to + 1n;
  }
  if (from <= settled) return;
  for (const order of waiting)
    if (startOf(order) <= settled && timestamp > (order.attestation?.expiration ?? timestamp))
      await finishOrder(ctx, order, 'expired', null);
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
