import type { Context } from '../context.ts';
import type { Db } from '../db/pool.ts';
import { toTimestamp } from '../http/wire.ts';
import { type Checkpoint, openCheckpoint } from './checkpoint.ts';
import { loadCheckpointKeys } from './former-keys.ts';
import { moveStart, readStart } from './start.ts';
import { deleteBeforeStart, findCheckpointBefore, listSealedEntries, lockSealing } from './store.ts';
import { findProblem } from './verify.ts';

const DAY_MS = 86_400_000;
const BATCH_SIZE = 2_000;

type Parts = Pick<Context, 'db' | 'clock' | 'config' | 'sealing'>;

/**
 * Deletes entries older than `AUDIT_RETENTION_DAYS`, up to a signed checkpoint. Verifies them first: entries that someone
 * has changed are evidence, so this throws and deletes nothing. Likewise if a checkpoint claims to be older than its
 * entries, whose times are part of the chain.
 */
export async function deleteOldAuditEntries(ctx: Parts): Promise<void> {
  const { clock, config, sealing } = ctx;
  const before = toTimestamp((Math.floor(clock.now()) - config.retention.auditDays * DAY_MS) * 1000);
  const size = await ctx.db.transaction().execute(async (db) => {
    await lockSealing(db);
    const start = await readStart({ db, sealing });
    if (start === null) throw new Error('the start of the audit log is not signed by this installation');
    const oldest = await findCheckpointBefore(db, before);
    if (oldest === undefined || oldest.size <= start.size) return start.size;
    const end = openCheckpoint(await loadCheckpointKeys({ db, sealing }), oldest.note);
    if (end === null) throw new Error('a checkpoint of the audit log is not signed by this installation');
    await assertIntact(db, start, end, before);
    await moveStart({ db, sealing }, end);
    return end.size;
  });
  if (size > 0n) await deleteBeforeStart(ctx.db, size);
}

async function assertIntact(db: Db, start: Checkpoint, end: Checkpoint, before: string): Promise<void> {
  let { size, chainHash } = start;
  while (size < end.size) {
    const entries = await listSealedEntries(db, size, Math.min(BATCH_SIZE, Number(end.size - size)));
    for (const entry of entries) {
      const problem = findProblem(entry, size, chainHash);
      if (problem !== null) throw new Error(`the audit log is not intact: ${problem}`);
      if (JSON.parse(entry.entry).at >= before)
        throw new Error(`the audit log is not intact: a checkpoint is older than entry ${entry.position}`);
      [size, chainHash] = [entry.position, entry.chain_hash];
    }
    if (entries.length === 0) throw new Error(`the audit log is not intact: entry ${size + 1n} is missing`);
  }
  if (!chainHash.equals(end.chainHash))
    throw new Error(`the audit log is not intact: entry ${size} differs from a signed checkpoint`);
}
