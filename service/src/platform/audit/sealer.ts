import { Counter, Gauge } from 'prom-client';
import type { Context } from '../context/context.ts';
import { startInterval } from '../jobs/interval.ts';
import { originAt, signCheckpoint } from './checkpoint.ts';
import * as store from './store.ts';
import { appendToTiles, findBlindingKey } from './store.ts';
import { loadCheckpointKeys } from './tagged-records.ts';
import { readSignedTree } from './tiles.ts';
import { AuditProblem, appendLeaf, collectTiles, hashEntry, rootOf } from './tree.ts';

const INTERVAL_MS = 1_000;
/** Limits how long requests wait while a batch is hashed. */
const BATCH_SIZE = 2_000;
/** Limits how long a run takes, and so how long a shutdown has to wait. */
const MAX_BATCHES = 10;
const MAX_BATCHES_AT_STOP = 2;
/** The maximum time from the newest checkpoint to the next one if there are new entries. */
const CHECKPOINT_INTERVAL_S = 30;
/** Before that, the node seals any new entries, even if the newest checkpoint claims to be recent. */
const VERIFY_INTERVAL_MS = 60_000;

type Parts = Pick<Context, 'db' | 'log' | 'sealing' | 'baseUrl'>;

/**
 * To seal is to append an entry's hash to the log's Merkle tree and to sign a checkpoint of the tree; nothing is
 * encrypted. Any number of nodes may run it: the database lets one at a time.
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

/** Seals new entries if that is due. Returns whether sealing stopped early, after `maxBatches`. */
export async function sealAuditLog(
  { db, sealing, baseUrl }: Parts,
  checkpointIntervalS = CHECKPOINT_INTERVAL_S,
  { batchSize = BATCH_SIZE, maxBatches = MAX_BATCHES } = {},
): Promise<boolean> {
  for (let batch = 0; batch < maxBatches; batch++) {
    if (!(await store.isSealingDue(db, checkpointIntervalS, batchSize))) return false;
    await db.transaction().execute(async (tx) => {
      await store.lockSealing(tx);
      // Another node may have sealed the entries in the meantime.
      if (await store.isSealingDue(tx, checkpointIntervalS, batchSize))
        await sealBatch({ db: tx, sealing, baseUrl }, batchSize);
    });
  }
  return true;
}

/** Throws if this installation did not sign it, or if the tiles differ from it. */
async function verifyNewestCheckpoint({ db, sealing }: Parts): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await store.lockSealing(tx);
    await readSignedTree(tx, await loadCheckpointKeys({ db: tx, sealing }));
  });
}

/**
 * Signs a checkpoint of the result. An entry that is committed late may follow newer entries. If the database differs
 * from what was signed before, throws and signs nothing.
 */
async function sealBatch({ db, sealing, baseUrl }: Omit<Parts, 'log'>, limit: number): Promise<void> {
  const keys = await loadCheckpointKeys({ db, sealing });
  const tree = await readSignedTree(db, keys);
  const { onTileHash, take } = collectTiles(tree.size);
  const key = await findBlindingKey(db);
  await store.placeEntries(db, tree.size, limit);
  for (const { position, entry } of await store.listSealedEntries(db, tree.size, limit)) {
    if (position !== tree.size + 1) throw new AuditProblem(`entry ${tree.size + 1} is missing`);
    appendLeaf(tree, hashEntry(key, position, entry), onTileHash);
  }
  await appendToTiles(db, take());
  const note = signCheckpoint(keys, originAt(baseUrl), { size: tree.size, hash: rootOf(tree) });
  await store.insertCheckpoint(db, { size: tree.size, note });
}
