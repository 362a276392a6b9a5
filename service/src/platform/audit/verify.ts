import type { Context } from '../context/context.ts';
import type { Db } from '../db/pool.ts';
import { type Checkpoint, type CheckpointKeys, openCheckpoint, openStored } from './checkpoint.ts';
import { countTileHashes, listCheckpoints, listSealedEntries, readTiles } from './store.ts';
import { loadCheckpointKeys, readStart } from './tagged-records.ts';
import { readLeaves, readSignedTree } from './tiles.ts';
import {
  AuditProblem,
  appendLeaf,
  collectTiles,
  countHashes,
  HASH_BYTES,
  type OnTileHash,
  rootOf,
  TILE_WIDTH,
  type Tile,
  type Tree,
} from './tree.ts';

const BATCH_SIZE = 2_000;

/** `start` is the number of deleted entries. `entries` is the number of remaining entries that were verified. */
type Verified = { start: number; entries: number; checkpoints: number };
type Verification = (Verified & { problem: null }) | { problem: string };

type Parts = Pick<Context, 'db' | 'sealing'>;

/**
 * Compares every entry with its leaf, the tree of the leaves with the tiles, the checkpoints and the `kept` ones,
 * which were stored elsewhere. Reports the first problem. Without kept checkpoints, it cannot tell that the whole
 * database was rolled back, or that the log was rewritten and its checkpoints removed.
 */
export async function verifyAuditLog(
  { db, sealing }: Parts,
  kept: readonly string[] = [],
): Promise<Verification> {
  try {
    // Reads from one snapshot, because housekeeping may meanwhile delete entries, which moves the start of the log.
    const verified = await db
      .transaction()
      .setIsolationLevel('repeatable read')
      .setAccessMode('read only')
      .execute((tx) => verifySnapshot({ db: tx, sealing }, kept));
    return { ...verified, problem: null };
  } catch (error) {
    if (error instanceof AuditProblem) return { problem: error.message };
    throw error;
  }
}

async function verifySnapshot(ctx: Parts, kept: readonly string[]): Promise<Verified> {
  const { db } = ctx;
  const keys = await loadCheckpointKeys(ctx);
  const start = await readStart(ctx);
  // States of the log that tags in the database prove.
  const tagged = [start, ...keys.former.map(({ end }) => end)].filter(({ size }) => size > 0);
  const states = readStates(db, keys, [...tagged, ...kept.map((note) => openKept(keys, note))]);
  const [stored = 0] = await countTileHashes(db);
  const tree: Tree = { size: 0, peaks: [] };
  const { onTileHash, take } = collectTiles(0);
  const onUpperHash: OnTileHash = (level, hash) => void (level > 0 && onTileHash(level, hash));
  let next = await states.next();
  let count = 0;
  for await (const { leaves } of readLeaves(db, { from: 0, to: stored, start: start.size })) {
    const before = tree.size;
    for (const leaf of leaves) {
      appendLeaf(tree, leaf, onUpperHash);
      for (; !next.done && next.value.size <= tree.size; next = await states.next(), count++)
        if (!rootOf(tree).equals(next.value.hash))
          throw new AuditProblem(
            `the first ${tree.size} entries were rewritten: they differ from a signed checkpoint`,
          );
    }
    await compareTiles(db, before, take());
  }
  if (!next.done)
    throw new AuditProblem(
      `entry ${stored + 1} is missing: a checkpoint was signed for ${next.value.size} entries`,
    );
  const [stray] = await listSealedEntries(db, stored, 1);
  if (stray !== undefined) throw new AuditProblem(`entry ${stray.position} is not in the tiles`);
  await readSignedTree(db, keys);
  return { start: start.size, entries: stored - start.size, checkpoints: count - tagged.length };
}

function openKept(keys: CheckpointKeys, note: string): Checkpoint {
  const checkpoint = openCheckpoint(keys, note);
  if (checkpoint === null) throw new AuditProblem('a kept checkpoint is not signed by this installation');
  return checkpoint;
}

/** Yields states that the log provably had, ordered by size: the checkpoints in the database and those in `others`. */
async function* readStates(
  db: Db,
  keys: CheckpointKeys,
  others: Checkpoint[],
): AsyncGenerator<Checkpoint, undefined> {
  const rest = others.sort((a, b) => a.size - b.size);
  for (let after = 0, isMore = true; isMore; ) {
    const rows = await listCheckpoints(db, after, BATCH_SIZE);
    for (const row of rows) {
      while (rest[0] !== undefined && rest[0].size <= row.size) yield rest.shift() as Checkpoint;
      yield openStored(keys, row);
    }
    after = rows.at(-1)?.size ?? after;
    isMore = rows.length === BATCH_SIZE;
  }
  yield* rest;
}

async function compareTiles(db: Db, size: number, parts: readonly Tile[]): Promise<void> {
  const stored = await readTiles(db, parts);
  for (const { level, index, hashes } of parts) {
    const at = Math.max(0, countHashes(size, level) - index * TILE_WIDTH) * HASH_BYTES;
    const tile = stored.find((each) => each.level === level && each.index === index);
    if (!tile?.hashes.subarray(at, at + hashes.length).equals(hashes))
      throw new AuditProblem(`tile ${level}/${index} differs from the entries`);
  }
}
