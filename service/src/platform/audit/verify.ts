import type { Context } from '../context/context.ts';
import type { Db } from '../db/pool.ts';
import { hashChain, hashEntry } from './chain.ts';
import {
  type Checkpoint,
  type CheckpointKeys,
  isTreeCheckpoint,
  openCheckpoint,
  openTreeCheckpoint,
} from './checkpoint.ts';
import { loadCheckpointKeys } from './former-keys.ts';
import { readStart } from './start.ts';
import { listCheckpoints, listSealedEntries, type SealedEntry } from './store.ts';
import { createTreeVerifier } from './verify-tree.ts';

const BATCH_SIZE = 2_000;
const UNSIGNED = 'a checkpoint is not signed by this installation';

/** `start` is the number of deleted entries. `entries` is the number of remaining entries that were verified. */
export type Verification = { start: bigint; entries: bigint; checkpoints: number; problem: string | null };

type Parts = Pick<Context, 'db' | 'sealing'>;

/**
 * Recomputes the chain and the tree from the start of the log. Compares them with the tiles, the checkpoints in the
 * database and the `kept` checkpoints, which were stored elsewhere. Reports the first problem, such as a changed,
 * removed or inserted entry. Skips checkpoints from before the start of the log, because they prove nothing about the
 * remaining entries.
 *
 * Without kept checkpoints, this check cannot tell that the database was rolled back, or that the log was rewritten and
 * its checkpoints removed.
 */
export async function verifyAuditLog(
  { db, sealing }: Parts,
  kept: readonly string[] = [],
): Promise<Verification> {
  // Reads from one snapshot, because housekeeping may meanwhile delete entries, which moves the start of the log.
  return db
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute((tx) => verifySnapshot({ db: tx, sealing }, kept));
}

async function verifySnapshot(ctx: Parts, kept: readonly string[]): Promise<Verification> {
  const { db } = ctx;
  const keys = await loadCheckpointKeys(ctx);
  const start = await readStart(ctx);
  let [position, chain, count] = [start?.size ?? 0n, start?.hash ?? Buffer.alloc(0), 0];
  const result = (problem: string | null) => ({
    ...{ start: start?.size ?? 0n, entries: position - (start?.size ?? 0n), checkpoints: count, problem },
  });
  if (start === null) return result('the record of where the log starts is not signed by this installation');

  const tree = await createTreeVerifier(db, Number(start.size));
  const claims = readClaims(db, keys, kept);
  let next = await claims.next();
  const isDue = () => !next.done && (next.value === null || next.value.size <= position);
  /** Compares the log with every claim whose size is `position`. Skips claims from before the start of the log. */
  const compare = async (): Promise<string | null> => {
    for (; !next.done && (next.value === null || next.value.size <= position); next = await claims.next()) {
      if (next.value === null) return UNSIGNED;
      const { size, hash, isCheckpoint, isTree } = next.value;
      if (size < position) continue;
      if (!(isTree ? tree.matches(hash) : hash.equals(chain)))
        return position === start.size
          ? 'the record of where the log starts differs from a signed checkpoint'
          : `the first ${position} entries were rewritten: they differ from a signed checkpoint`;
      if (isCheckpoint) count++;
    }
    return null;
  };
  const atStart = await compare();
  if (atStart !== null) return result(atStart);
  for (let isMore = true; isMore; ) {
    const batch = await listSealedEntries(db, position, BATCH_SIZE);
    for (const entry of batch) {
      const problem = findProblem(entry, position, chain);
      if (problem !== null) return result(problem);
      [position, chain] = [entry.position, entry.chain_hash];
      tree.append(position, entry.leaf_hash);
      const rewritten = isDue() ? await compare() : null;
      if (rewritten !== null) return result(rewritten);
    }
    isMore = batch.length === BATCH_SIZE;
    const problem = await tree.compareTiles();
    if (problem !== null) return result(problem);
  }
  let newest = 0n;
  for (; !next.done; next = await claims.next()) {
    if (next.value === null) return result(UNSIGNED);
    newest = next.value.size;
  }
  if (newest > position)
    return result(`entry ${position + 1n} is missing: a checkpoint was signed for ${newest} entries`);
  return result(await tree.end());
}

/** A state that the log provably had. The entries must match it. */
type Claim = Checkpoint & { isCheckpoint: boolean; isTree: boolean };

/**
 * Yields the states that the log provably had, ordered by size: the checkpoints in the database, the kept checkpoints,
 * and the state at the time each older key was replaced. Yields null in place of a checkpoint without a valid
 * signature.
 */
async function* readClaims(
  db: Db,
  keys: CheckpointKeys,
  kept: readonly string[],
): AsyncGenerator<Claim | null, undefined> {
  const outside: Claim[] = keys.all.flatMap(({ end }) =>
    end === null || end.size === 0n ? [] : [{ ...end, isCheckpoint: false, isTree: false }],
  );
  for (const note of kept) {
    const isTree = isTreeCheckpoint(note);
    const checkpoint = (isTree ? openTreeCheckpoint : openCheckpoint)(keys, note);
    if (checkpoint === null) yield null;
    else outside.push({ ...checkpoint, isCheckpoint: true, isTree });
  }
  outside.sort((a, b) => (a.size < b.size ? -1 : 1));
  for (let after = -1n, isMore = true; isMore; ) {
    const rows = await listCheckpoints(db, after, BATCH_SIZE);
    for (const { size, note, tree } of rows) {
      while (outside[0] !== undefined && outside[0].size <= size) yield outside.shift() ?? null;
      const checkpoint = (tree ? openTreeCheckpoint : openCheckpoint)(keys, note);
      yield checkpoint?.size === size ? { ...checkpoint, isCheckpoint: true, isTree: tree } : null;
    }
    after = rows.at(-1)?.size ?? after;
    isMore = rows.length >= BATCH_SIZE;
  }
  yield* outside;
}

/**
 * Checks whether `entry` is unchanged and follows the entry at position `before`, whose chain hash is `chain`. Returns
 * the problem, or null if there is none.
 */
export function findProblem(entry: SealedEntry, before: bigint, chain: Buffer): string | null {
  const { position, leaf_hash, chain_hash } = entry;
  if (position !== before + 1n) return `entry ${before + 1n} is missing`;
  const leaf = hashEntry(entry.entry);
  if (!leaf.equals(leaf_hash)) return `entry ${position} was changed`;
  if (!hashChain(chain, leaf).equals(chain_hash))
    return `entry ${position} does not follow entry ${before}: entry ${position} was changed or inserted, or an earlier entry was removed`;
  return null;
}
