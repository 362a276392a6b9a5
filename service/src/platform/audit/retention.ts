import { toTimestamp } from '../../kernel/wire.ts';
import type { Context } from '../context/context.ts';
import type { Db } from '../db/pool.ts';
import { type Checkpoint, openCheckpoint, openTreeCheckpoint } from './checkpoint.ts';
import { loadCheckpointKeys } from './former-keys.ts';
import { moveStart, readStart } from './start.ts';
import { deleteBeforeStart, findCheckpointBefore, listSealedEntries, lockSealing } from './store.ts';
import { findBlindingKey } from './tile-store.ts';
import { readSignedTree, readTree } from './tiles.ts';
import { appendLeaf, hashTreeLeaf, rootOf } from './tree.ts';
import { findProblem } from './verify.ts';

const DAY_MS = 86_400_000;
const BATCH_SIZE = 2_000;
/**
 * A step deletes at most this many entries, or all entries up to the next checkpoint if those are more. Each step holds
 * the sealing lock, so a step must not take long.
 */
const MAX_STEP_ENTRIES = 100_000;

type Parts = Pick<Context, 'db' | 'clock' | 'config' | 'sealing'>;

/**
 * Deletes entries older than `AUDIT_RETENTION_DAYS` in steps. Each step ends at a signed checkpoint and verifies its
 * entries before it deletes them. Throws if an entry was changed, because changed entries are evidence. Also throws if
 * a checkpoint is old enough but an entry before it is not. Somebody may have backdated the checkpoint to have newer
 * entries deleted: the chain protects the times of entries, but nothing protects the time of a checkpoint.
 */
export async function deleteOldAuditEntries(ctx: Parts, maxStepEntries = MAX_STEP_ENTRIES): Promise<void> {
  const { clock, config, sealing } = ctx;
  const before = toTimestamp((Math.floor(clock.now()) - config.retention.auditDays * DAY_MS) * 1000);
  for (let isMore = true; isMore; ) {
    const size = await ctx.db.transaction().execute(async (db) => {
      await lockSealing(db);
      const start = await readStart({ db, sealing });
      if (start === null)
        throw new Error('the record of where the audit log starts is not signed by this installation');
      const next = await findCheckpointBefore(db, before, { start: start.size, max: maxStepEntries });
      isMore = false;
      if (next === undefined) return start.size;
      const keys = await loadCheckpointKeys({ db, sealing });
      // The tree is built from the entries' hashes, so no entry may be deleted before it is in a signed tree.
      if (next.size > BigInt((await readSignedTree(db, keys)).size)) return start.size;
      isMore = true;
      const end = (next.tree ? openTreeCheckpoint : openCheckpoint)(keys, next.note);
      if (end?.size !== next.size)
        throw new Error('a checkpoint of the audit log is not signed by this installation');
      await moveStart({ db, sealing }, await verifyStep(db, start, { ...end, isTree: next.tree }, before));
      return end.size;
    });
    if (size > 0n) await deleteBeforeStart(ctx.db, size);
  }
}

/** Verifies the entries from `start` to `end` and returns the state of the chain after them. */
async function verifyStep(
  db: Db,
  start: Checkpoint,
  end: Checkpoint & { isTree: boolean },
  before: string,
): Promise<Checkpoint> {
  const tree = await readTree(db, Number(start.size));
  const key = await findBlindingKey(db);
  let { size, hash: chain } = start;
  while (size < end.size) {
    const entries = await listSealedEntries(db, size, Math.min(BATCH_SIZE, Number(end.size - size)));
    for (const entry of entries) {
      const problem = findProblem(entry, size, chain);
      if (problem !== null) throw new Error(`the audit log is not intact: ${problem}`);
      if (JSON.parse(entry.entry).at >= before)
        throw new Error(
          `the audit log is not intact: entry ${entry.position} is newer than a checkpoint that covers it`,
        );
      [size, chain] = [entry.position, entry.chain_hash];
      appendLeaf(tree, hashTreeLeaf(key, entry.position, entry.leaf_hash), () => undefined);
    }
    if (entries.length === 0) throw new Error(`the audit log is not intact: entry ${size + 1n} is missing`);
  }
  if (!(end.isTree ? rootOf(tree) : chain).equals(end.hash))
    throw new Error(`the audit log is not intact: entry ${size} differs from a signed checkpoint`);
  return { size, hash: chain };
}
