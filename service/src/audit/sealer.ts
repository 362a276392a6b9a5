import type { Context } from '../context.ts';
import type { Db } from '../db/pool.ts';
import { startInterval } from '../jobs/interval.ts';
import { EMPTY_CHAIN, hashChain, hashEntry } from './chain.ts';
import { type CheckpointKeys, createCheckpointKeys, signCheckpoint } from './checkpoint.ts';
import * as store from './store.ts';
import { extendTree } from './tiles.ts';
import { rootOf } from './tree.ts';

const INTERVAL_MS = 1_000;
const BATCH_SIZE = 1_000;
const TREE_BATCH_SIZE = 20_000;
/** A checkpoint is at most this much older than the newest sealed entry. */
const CHECKPOINT_INTERVAL_S = 30;

type Parts = Pick<Context, 'db' | 'log' | 'sealing'>;

/**
 * Seals new entries and signs checkpoints. Any number of nodes may run the sealer: the database lets only one seal at a
 * time.
 */
export function startAuditSealer(ctx: Parts): () => Promise<void> {
  const stop = startInterval(ctx, INTERVAL_MS, 'sealing the audit log failed', () => sealAuditLog(ctx));
  return async () => {
    await stop();
    await sealAuditLog(ctx, 0).catch((err: unknown) => ctx.log.warn({ err }, 'sealing the audit log failed'));
  };
}

export async function sealAuditLog(
  { db, sealing }: Parts,
  checkpointIntervalS = CHECKPOINT_INTERVAL_S,
  treeBatchSize = TREE_BATCH_SIZE,
): Promise<void> {
  for (;;) {
    const { hasUnsealed, needsCheckpoint } = await store.findSealingWork(db, checkpointIntervalS);
    if (hasUnsealed) await db.transaction().execute(sealBatch);
    else if (!needsCheckpoint) return;
    else if (await addCheckpoint(db, createCheckpointKeys(sealing), checkpointIntervalS, treeBatchSize))
      return;
  }
}

/** Adds the next committed entries to the chain. An entry that commits late gets a later position. */
async function sealBatch(tx: Db): Promise<void> {
  await store.lockSealing(tx);
  const last = await store.findLastSealed(tx);
  let position = last?.position ?? 0n;
  let chain = last?.chain_hash ?? EMPTY_CHAIN;
  const seals = (await store.listUnsealedEntries(tx, BATCH_SIZE)).map(({ written, entry }) => {
    const leaf = hashEntry(entry);
    chain = hashChain(chain, leaf);
    position += 1n;
    return { written, position, leaf, chain };
  });
  if (seals.length > 0) await store.sealEntries(tx, seals);
}

/**
 * Adds sealed entries to the tree, and signs a checkpoint of it once it has all of them. Returns false if there are more: a log
 * that is older than its tree takes several transactions, so that sealing does not wait for all of it.
 */
async function addCheckpoint(
  db: Db,
  keys: CheckpointKeys,
  intervalS: number,
  batchSize: number,
): Promise<boolean> {
  return db.transaction().execute(async (tx) => {
    await store.lockSealing(tx);
    const [last, newest] = [await store.findLastSealed(tx), await store.findTreeCheckpoint(tx)];
    if (last === undefined || last.position === newest?.size) return true;
    if (newest !== undefined && newest.age_seconds < intervalS) return true;
    const tree = await extendTree(tx, batchSize);
    const size = BigInt(tree.size);
    if (size !== last.position) return false;
    await store.insertTreeCheckpoint(tx, { size, note: signCheckpoint(keys, { size, hash: rootOf(tree) }) });
    return true;
  });
}
