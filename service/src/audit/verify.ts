import type { Context } from '../context.ts';
import type { Db } from '../db/pool.ts';
import { hashChain, hashEntry } from './chain.ts';
import { type Checkpoint, type CheckpointKeys, openCheckpoint } from './checkpoint.ts';
import { loadCheckpointKeys } from './former-keys.ts';
import { readStart } from './start.ts';
import { listCheckpoints, listSealedEntries, type SealedEntry } from './store.ts';

const BATCH_SIZE = 2_000;
const UNSIGNED = 'a checkpoint is not signed by this installation';

/** `start`: how many older entries were deleted. `entries`: how many of the others were verified. */
export type Verification = { start: bigint; entries: bigint; checkpoints: number; problem: string | null };

/**
 * Recomputes the chain from the start of the log and compares it with every checkpoint in the database and with the
 * `kept` checkpoints, which were stored elsewhere. Checkpoints from before the start prove nothing about what remains. Names the first entry that was changed, removed or inserted. If someone
 * rewrote the log and removed its checkpoints, or rolled the database back, only a kept checkpoint reveals
 * it.
 */
export async function verifyAuditLog(
  ctx: Pick<Context, 'db' | 'sealing'>,
  kept: readonly string[] = [],
): Promise<Verification> {
  const { db } = ctx;
  const keys = await loadCheckpointKeys(ctx);
  const checkpoints = readCheckpoints(db, keys, kept);
  let next = await checkpoints.next();
  let count = -endsOf(keys).length;
  const advance = async () => {
    next = await checkpoints.next();
    count++;
  };
  const start = await readStart(ctx);
  const deleted = start?.size ?? 0n;
  const result = (position: bigint, problem: string | null) => ({
    ...{ start: deleted, entries: position - deleted, checkpoints: count, problem },
  });
  if (start === null) return result(0n, 'the start of the log is not signed by this installation');
  let position = start.size;
  let chain = start.chainHash;
  for (; !next.done && next.value !== null && next.value.size <= position; await advance())
    if (next.value.size === position && !next.value.chainHash.equals(chain))
      return result(position, 'the start of the log differs from a signed checkpoint');
  for (let isMore = true; isMore; ) {
    const batch = await listSealedEntries(db, position, BATCH_SIZE);
    for (const entry of batch) {
      const problem = findProblem(entry, position, chain);
      if (problem !== null) return result(position, problem);
      position = entry.position;
      chain = entry.chain_hash;
      for (; !next.done && (next.value === null || next.value.size <= position); await advance()) {
        if (next.value === null) return result(position, UNSIGNED);
        if (next.value.size === position && !next.value.chainHash.equals(chain))
          return result(
            position,
            `the first ${position} entries were rewritten: they differ from a signed checkpoint`,
          );
      }
    }
    isMore = batch.length === BATCH_SIZE;
  }
  let newest = 0n;
  for (; !next.done; await advance()) {
    if (next.value === null) return result(position, UNSIGNED);
    newest = next.value.size;
  }
  if (newest > position)
    return result(
      position,
      `entry ${position + 1n} is missing: a checkpoint was signed for ${newest} entries`,
    );
  return result(position, null);
}

/**
 * Yields the checkpoints in the database and the kept checkpoints, ordered by size. Yields null for a
 * checkpoint without a valid signature.
 */
async function* readCheckpoints(
  db: Db,
  keys: CheckpointKeys,
  kept: readonly string[],
): AsyncGenerator<Checkpoint | null, undefined> {
  const outside = endsOf(keys);
  for (const note of kept) {
    const checkpoint = openCheckpoint(keys, note);
    if (checkpoint === null) yield null;
    else outside.push(checkpoint);
  }
  outside.sort((a, b) => (a.size < b.size ? -1 : 1));
  for (let after = -1n, isMore = true; isMore; ) {
    const rows = await listCheckpoints(db, after, BATCH_SIZE);
    for (const { size, note } of rows) {
      while (outside[0] !== undefined && outside[0].size <= size) yield outside.shift() ?? null;
      const checkpoint = openCheckpoint(keys, note);
      yield checkpoint?.size === size ? checkpoint : null;
    }
    after = rows.at(-1)?.size ?? after;
    isMore = rows.length === BATCH_SIZE;
  }
  yield* outside;
}

/**
 * Returns the state of the log when each older key was replaced. A configured secret vouches for these
 * states, so they count as checkpoints.
 */
function endsOf({ all }: CheckpointKeys): Checkpoint[] {
  return all.flatMap(({ end }) => (end === null || end.size === 0n ? [] : [end]));
}

/** Returns what is wrong with an entry that should follow the entry `before`, or null. */
export function findProblem(entry: SealedEntry, before: bigint, chain: Buffer): string | null {
  const { position, leaf_hash, chain_hash } = entry;
  if (position !== before + 1n) return `entry ${before + 1n} is missing`;
  const leaf = hashEntry(entry.entry);
  if (!leaf.equals(leaf_hash)) return `entry ${position} was changed`;
  if (!hashChain(chain, leaf).equals(chain_hash))
    return `entry ${position} does not follow entry ${before}: it was changed or inserted, or one before it was removed`;
  return null;
}
