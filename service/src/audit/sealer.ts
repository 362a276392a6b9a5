import type { Context } from '../context.ts';
import type { Db } from '../db/pool.ts';
import { startInterval } from '../jobs/interval.ts';
import { EMPTY_CHAIN, hashChain, hashEntry } from './chain.ts';
import { type CheckpointKeys, createCheckpointKeys, signCheckpoint } from './checkpoint.ts';
import * as store from './store.ts';

const INTERVAL_MS = 1_000;
const BATCH_SIZE = 1_000;
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
): Promise<void> {
  for (;;) {
    const { hasUnsealed, needsCheckpoint } = await store.findSealingWork(db, checkpointIntervalS);
    if (!hasUnsealed && needsCheckpoint)
      await db
        .transaction()
        .execute((tx) => addCheckpoint(tx, createCheckpointKeys(sealing), checkpointIntervalS));
    if (!hasUnsealed) return;
    await db.transaction().execute(sealBatch);
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

async function addCheckpoint(tx: Db, keys: CheckpointKeys, intervalS: number): Promise<void> {
  await store.lockSealing(tx);
  const [last, newest] = [await store.findLastSealed(tx), await store.findLastCheckpoint(tx)];
  if (last === undefined || last.position === newest?.size) return;
  if (newest !== undefined && newest.age_seconds < intervalS) return;
  const note = signCheckpoint(keys, { size: last.position, chainHash: last.chain_hash });
  await store.insertCheckpoint(tx, { size: last.position, note });
}
