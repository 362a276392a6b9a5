import { Counter, Gauge } from 'prom-client';
import type { Context } from '../context/context.ts';
import type { Db } from '../db/pool.ts';
import { startInterval } from '../jobs/interval.ts';
import { EMPTY_CHAIN, hashChain, hashEntry } from './chain.ts';
import { signCheckpoint, treeOrigin, withOrigin } from './checkpoint.ts';
import { loadCheckpointKeys } from './former-keys.ts';
import { readStart } from './start.ts';
import * as store from './store.ts';
import { extendTree, readSignedTree } from './tiles.ts';
import { rootOf } from './tree.ts';

const INTERVAL_MS = 1_000;
/** Limits how long requests wait while a batch is hashed. */
const BATCH_SIZE = 2_000;
/** Limits how long a run takes, and so how long a shutdown has to wait. */
const MAX_BATCHES = 10;
const MAX_BATCHES_AT_STOP = 2;
/** The maximum time from the newest checkpoint to the next one if new entries have been sealed. */
const CHECKPOINT_INTERVAL_S = 30;
/**
 * How often a node verifies the newest checkpoint. Before each verification, the node signs a checkpoint of any new
 * entries, even if the database says that the newest checkpoint is recent.
 */
const VERIFY_INTERVAL_MS = 60_000;

type Parts = Pick<Context, 'db' | 'log' | 'sealing' | 'baseUrl'>;

/**
 * Seals new entries and signs checkpoints. To seal an entry is to append its hash to the chain; nothing is encrypted.
 * Any number of nodes may run the sealer: the database lets only one node at a time seal entries.
 */
export function startAuditSealer(
  ctx: Parts & Pick<Context, 'clock' | 'metrics'>,
  intervalMs = INTERVAL_MS,
): () => Promise<void> {
  const failure = 'sealing the audit log failed';
  const count = countRuns(ctx);
  let verifiedAt = Number.NEGATIVE_INFINITY;
  const sealAndVerify = async () => {
    const now = ctx.clock.now();
    if (Math.abs(now - verifiedAt) < VERIFY_INTERVAL_MS) return sealAuditLog(ctx);
    const stoppedEarly = await sealAuditLog(ctx, 0);
    await verifyNewestCheckpoint(ctx);
    // Not reached if verification fails. Every run then verifies again, and fails, until verification succeeds.
    verifiedAt = now;
    return stoppedEarly;
  };
  const stop = startInterval(ctx, intervalMs, failure, () => count(sealAndVerify));
  return async () => {
    await stop();
    await sealAuditLog(ctx, 0, { maxBatches: MAX_BATCHES_AT_STOP }).catch((err: unknown) =>
      ctx.log.warn({ err }, failure),
    );
  };
}

/** Returns a function that runs `work` and records whether it succeeded. */
function countRuns({ metrics: { registry }, clock }: Pick<Context, 'clock' | 'metrics'>) {
  const lastRun = new Gauge({
    name: 'causeway_audit_sealing_last_run_timestamp_seconds',
    help: 'When this node last sealed the audit log or found nothing to seal. Initially, the time at which the node started.',
    registers: [registry],
  });
  const failures = new Counter({
    name: 'causeway_audit_sealing_failures_total',
    help: "This node's failed attempts to seal the audit log.",
    registers: [registry],
  });
  lastRun.set(clock.now() / 1000);
  return async (work: () => Promise<unknown>): Promise<void> => {
    try {
      await work();
      lastRun.set(clock.now() / 1000);
    } catch (error) {
      failures.inc();
      throw error;
    }
  };
}

/**
 * Seals new entries and signs a checkpoint if one is due. Returns whether sealing stopped early, after `maxBatches`.
 */
export async function sealAuditLog(
  { db, sealing, baseUrl }: Parts,
  checkpointIntervalS = CHECKPOINT_INTERVAL_S,
  { batchSize = BATCH_SIZE, maxBatches = MAX_BATCHES } = {},
): Promise<boolean> {
  const findWork = (tx: Db) => store.findSealingWork(tx, checkpointIntervalS, batchSize);
  for (let batch = 0; batch < maxBatches; batch++) {
    const { hasUnsealed, needsCheckpoint } = await findWork(db);
    if (!hasUnsealed && !needsCheckpoint) return false;
    if (hasUnsealed) await db.transaction().execute((tx) => sealBatch(tx, batchSize));
    if (needsCheckpoint)
      await db.transaction().execute(async (tx) => {
        await store.lockSealing(tx);
        // Another node may have signed a checkpoint in the meantime.
        if ((await findWork(tx)).needsCheckpoint)
          await addCheckpoint({ db: tx, sealing, baseUrl }, batchSize);
      });
  }
  return true;
}

/**
 * Throws an error if this installation did not sign the newest checkpoint, or if the tiles differ from the checkpoint.
 */
async function verifyNewestCheckpoint({ db, sealing }: Parts): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await store.lockSealing(tx);
    await readSignedTree(tx, await loadCheckpointKeys({ db: tx, sealing }));
  });
}

/** Appends at most `limit` committed entries to the chain. An entry that is committed late may follow newer entries. */
async function sealBatch(tx: Db, limit: number): Promise<void> {
  await store.lockSealing(tx);
  const last = await store.findLastSealed(tx);
  let position = last?.position ?? 0n;
  let chain = last?.chain_hash ?? EMPTY_CHAIN;
  const seals = (await store.listUnsealedEntries(tx, limit)).map(({ written, entry }) => {
    const leaf = hashEntry(entry);
    chain = hashChain(chain, leaf);
    position += 1n;
    return { written, position, leaf, chain };
  });
  if (seals.length > 0) await store.sealEntries(tx, seals);
}

/**
 * Adds at most `limit` sealed entries to the tree of the newest checkpoint, and signs a checkpoint of the result. A log
 * from before version 0.2 may need several calls to complete its tree. If the database differs from what was signed
 * before, throws an error and signs nothing.
 */
async function addCheckpoint({ db, sealing, baseUrl }: Omit<Parts, 'log'>, limit: number): Promise<void> {
  const keys = await loadCheckpointKeys({ db, sealing });
  const start = await readStart({ db, sealing });
  if (start === null)
    throw new Error('the record of where the audit log starts is not signed by this installation');
  const tree = await extendTree(db, await readSignedTree(db, keys), { start: Number(start.size), limit });
  const size = BigInt(tree.size);
  const note = signCheckpoint(withOrigin(keys, treeOrigin(baseUrl)), { size, hash: rootOf(tree) });
  await store.insertTreeCheckpoint(db, { size, note });
}
