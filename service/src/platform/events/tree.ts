import type { Caller } from '../../kernel/access.ts';
import { ApiError } from '../../kernel/errors.ts';
import { isId } from '../../kernel/ids.ts';
import { createCheckpointKeys, signCheckpoint, verifierKey } from '../audit/checkpoint.ts';
import { appendLeaves, frontierOf, hashLeaf, hashTree, type NodeOf, proveLeaf } from '../audit/merkle.ts';
import type { Context } from '../context/context.ts';
import type { Db } from '../db/pool.ts';
import { startInterval } from '../jobs/interval.ts';
import { placeEvents } from './event.ts';
import { renderEvent } from './render.ts';
import type { EventProof } from './schema.ts';
import { type EventRow, findEvent } from './store.ts';
import {
  insertNodes,
  listPartnersToHash,
  lockTree,
  readLoggedEvents,
  readNodes,
  readTreeSize,
} from './tree-store.ts';

const INTERVAL_MS = 1_000;
const BATCH_SIZE = 1_000;

/**
 * Adds new events to the trees. Any number of service nodes may run this task, because each tree is locked while it
 * changes.
 */
export function startEventTrees(ctx: Pick<Context, 'db' | 'log'>): () => Promise<void> {
  return startInterval(ctx, INTERVAL_MS, 'hashing events failed', async () => void (await extendTrees(ctx)));
}

/**
 * Adds new events to the tree of every partner. Returns the partners whose trees could not be extended. Also called
 * before expired events are deleted, so that every event becomes a leaf before it is deleted.
 */
export async function extendTrees({ db, log }: Pick<Context, 'db' | 'log'>): Promise<string[]> {
  const broken: string[] = [];
  for (const partnerId of await listPartnersToHash(db))
    await extendTree(db, partnerId).catch((err: unknown) => {
      broken.push(partnerId);
      log.error({ err, partner_id: partnerId }, "hashing a partner's events failed");
    });
  return broken;
}

async function extendTree(db: Db, partnerId: string): Promise<void> {
  for (let count = BATCH_SIZE; count === BATCH_SIZE; ) {
    count = await db.transaction().execute(async (tx) => {
      const size = await lockTree(tx, partnerId);
      const events = await readLoggedEvents(tx, partnerId, { after: size, limit: BATCH_SIZE });
      if (events.length === 0) return 0;
      const leaves = leavesOf(size, events);
      const frontier = nodeMap(await readNodes(tx, partnerId, frontierOf(size)));
      await insertNodes(tx, partnerId, appendLeaves(size, frontier, leaves), size + leaves.length);
      return events.length;
    });
  }
}

/**
 * Returns the leaves for the events. Adds a placeholder for each event that expired before trees existed, so that the
 * index of a leaf is always its event's `sequence` minus one.
 */
function leavesOf(size: number, events: readonly EventRow[]): Buffer[] {
  const leaves: Buffer[] = [];
  for (const event of events) {
    while (size + leaves.length + 1 < Number(event.sequence)) leaves.push(hashLeaf('expired'));
    leaves.push(hashLeaf(leafOf(event)));
  }
  return leaves;
}

/** Returns the event as JSON, exactly as webhooks deliver it to a partner who may read it. */
function leafOf(event: EventRow): string {
  return JSON.stringify(renderEvent({ ...event, visible: true }));
}

function nodeMap(nodes: readonly { level: number; index: number; hash: Buffer }[]): NodeOf {
  const hashes = new Map(nodes.map(({ level, index, hash }) => [`${level} ${index}`, hash]));
  return (level, index) => {
    const hash = hashes.get(`${level} ${index}`);
    if (hash === undefined) throw new Error(`the event tree has no node ${index} at level ${level}`);
    return hash;
  };
}

/** Returns a proof that the event was logged, in the C2SP `tlog-proof` format. The proof can be verified offline. */
export async function proveEvent(ctx: Context, caller: Caller, id: string): Promise<EventProof> {
  if (!isId(id)) throw new ApiError('not_found');
  await placeEvents(ctx.db);
  const event = await findEvent(ctx.db, caller, id);
  if (event === null || !event.visible) throw new ApiError('not_found');
  const { partnerId } = caller;
  const index = Number(event.sequence) - 1;
  let size = await readTreeSize(ctx.db, partnerId);
  if (size <= index) {
    await extendTree(ctx.db, partnerId);
    size = await readTreeSize(ctx.db, partnerId);
  }
  const wanted: { level: number; index: number }[] = [{ level: 0, index }];
  const collect: NodeOf = (level, node) => {
    wanted.push({ level, index: node });
    return Buffer.alloc(32);
  };
  proveLeaf(collect, index, size);
  hashTree(collect, size);
  const nodeOf = nodeMap(await readNodes(ctx.db, partnerId, wanted));
  if (!nodeOf(0, index).equals(hashLeaf(leafOf(event)))) throw new Error(`event ${id} differs from its leaf`);
  const keys = createCheckpointKeys(ctx.sealing, [], `causeway/events/${partnerId}`);
  const lines = proveLeaf(nodeOf, index, size).map((hash) => `${hash.toString('base64')}\n`);
  const checkpoint = signCheckpoint(keys, { size: BigInt(size), hash: hashTree(nodeOf, size) });
  return {
    ...{ object: 'event_proof', event_id: id, leaf: leafOf(event), key: verifierKey(keys) },
    proof: `c2sp.org/tlog-proof@v1\nindex ${index}\n${lines.join('')}\n${checkpoint}`,
  };
}
