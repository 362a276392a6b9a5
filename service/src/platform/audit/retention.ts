import { toTimestamp } from '../../kernel/wire.ts';
import type { Context } from '../context/context.ts';
import type { Db } from '../db/pool.ts';
import { type Checkpoint, openStored } from './checkpoint.ts';
import { deleteBeforeStart, findCheckpointBefore, lockSealing } from './store.ts';
import { loadCheckpointKeys, moveStart, readStart } from './tagged-records.ts';
import { readLeaves, readTree } from './tiles.ts';
import { AuditProblem, appendLeaf, rootOf } from './tree.ts';

const DAY_MS = 86_400_000;
/** At most this many, or all up to the next checkpoint if those are more. A step holds the sealing lock, so it must be short. */
const MAX_STEP_ENTRIES = 100_000;

type Parts = Pick<Context, 'db' | 'clock' | 'config' | 'sealing'>;

/**
 * Entries older than `AUDIT_RETENTION_DAYS` go in steps; their hashes stay in the tiles. Each step ends at a signed
 * checkpoint and verifies its entries before it deletes them. Throws if an entry was changed, because changed entries
 * are evidence, or if an entry is newer than a checkpoint that covers it: somebody may have backdated the checkpoint,
 * whose time nothing protects, to have newer entries deleted.
 */
export async function deleteOldAuditEntries(ctx: Parts, maxStepEntries = MAX_STEP_ENTRIES): Promise<void> {
  const { clock, config, sealing } = ctx;
  const before = toTimestamp((Math.floor(clock.now()) - config.retention.auditDays * DAY_MS) * 1000);
  for (let isMore = true; isMore; ) {
    const size = await ctx.db.transaction().execute(async (db) => {
      await lockSealing(db);
      const start = await readStart({ db, sealing });
      const next = await findCheckpointBefore(db, before, { start: start.size, max: maxStepEntries });
      isMore = next !== undefined;
      if (next === undefined) return start.size;
      const end = openStored(await loadCheckpointKeys({ db, sealing }), next);
      await verifyStep(db, start.size, end, before);
      await moveStart({ db, sealing }, end);
      return end.size;
    });
    if (size > 0) await deleteBeforeStart(ctx.db, size);
  }
}

async function verifyStep(db: Db, start: number, end: Checkpoint, before: string): Promise<void> {
  const tree = await readTree(db, start);
  for await (const { leaves, entries } of readLeaves(db, { from: start, to: end.size, start })) {
    for (const { position, entry } of entries)
      if (JSON.parse(entry).at >= before)
        throw new AuditProblem(`entry ${position} is newer than a checkpoint that covers it`);
    for (const leaf of leaves) appendLeaf(tree, leaf, () => undefined);
  }
  if (!rootOf(tree).equals(end.hash))
    throw new AuditProblem(`the first ${end.size} entries differ from a signed checkpoint`);
}
