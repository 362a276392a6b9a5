import { ApiError } from '../../kernel/errors.ts';
import type { Db } from '../db/pool.ts';
import { type Checkpoint, type CheckpointKeys, openStored } from './checkpoint.ts';
import {
  countTileHashes,
  findBlindingKey,
  findNewestCheckpoint,
  findTile,
  listSealedEntries,
  readTiles,
  type SealedEntry,
} from './store.ts';
import {
  AuditProblem,
  countHashes,
  HASH_BYTES,
  hashEntry,
  partialTiles,
  rootOf,
  TILE_WIDTH,
  type TileId,
  type Tree,
  treeFromTiles,
} from './tree.ts';

/** Returns the newest checkpoint, if there is one. Throws if this installation did not sign it. */
export async function readNewestCheckpoint(db: Db, keys: CheckpointKeys): Promise<Checkpoint | undefined> {
  const newest = await findNewestCheckpoint(db);
  return newest && openStored(keys, newest);
}

export async function readTree(db: Db, size: number): Promise<Tree> {
  return treeFromTiles(size, await readTiles(db, partialTiles(size)));
}

/**
 * Throws if this installation did not sign the checkpoint, or if the tiles differ from it or have more or fewer
 * hashes.
 */
export async function readSignedTree(db: Db, keys: CheckpointKeys): Promise<Tree> {
  const newest = await readNewestCheckpoint(db, keys);
  const size = newest?.size ?? 0;
  for (const [level, count] of (await countTileHashes(db)).entries())
    if (count !== countHashes(size, level))
      throw new AuditProblem(
        `the newest checkpoint was signed for ${size} entries, but level ${level} of the tiles has ${count} hashes`,
      );
  const tree = await readTree(db, size);
  if (newest !== undefined && !rootOf(tree).equals(newest.hash))
    throw new AuditProblem('the tiles differ from the newest checkpoint');
  return tree;
}

const TILE_BATCH_SIZE = 8;

/**
 * Compares each leaf with its entry, except for the first `start` entries, which were deleted. Throws if one is
 * missing or differs.
 */
export async function* readLeaves(
  db: Db,
  { from, to, start }: { from: number; to: number; start: number },
): AsyncGenerator<{ leaves: Buffer[]; entries: SealedEntry[] }> {
  const key = await findBlindingKey(db);
  for (let after = from; after < to; ) {
    const index = Math.floor(after / TILE_WIDTH);
    const until = Math.min(to, (index + TILE_BATCH_SIZE) * TILE_WIDTH);
    const ids = Array.from({ length: TILE_BATCH_SIZE }, (_, n) => ({ level: 0, index: index + n }));
    const tiles = new Map((await readTiles(db, ids)).map((tile) => [tile.index, tile.hashes]));
    const kept = Math.max(after, start);
    const entries = kept < until ? await listSealedEntries(db, kept, until - kept) : [];
    const leaves: Buffer[] = [];
    for (let position = after + 1; position <= until; position++) {
      const tile = Math.floor((position - 1) / TILE_WIDTH);
      const at = ((position - 1) % TILE_WIDTH) * HASH_BYTES;
      const leaf = tiles.get(tile)?.subarray(at, at + HASH_BYTES);
      if (leaf?.length !== HASH_BYTES) throw new AuditProblem(`tile 0/${tile} lacks hashes`);
      leaves.push(leaf);
      if (position <= start) continue;
      const entry = entries[position - kept - 1];
      if (entry?.position !== position) throw new AuditProblem(`entry ${position} is missing`);
      if (!hashEntry(key, position, entry.entry).equals(leaf))
        throw new AuditProblem(`entry ${position} differs from its hash in tile 0/${tile}`);
    }
    yield { leaves, entries };
    after = until;
  }
}

const TILE_PATH = /^(0|[1-9]\d?)\/((?:x\d{3}\/){0,4}\d{3})(?:\.p\/([1-9]\d{0,2}))?$/;
const MAX_LEVEL = 63;

/** Parses a tile path such as `0/x001/234.p/7` (C2SP tlog-tiles). Returns null if the path is invalid. */
export function parseTilePath(path: string): (TileId & { width: number }) | null {
  const [, level, groups = '', width = TILE_WIDTH] = TILE_PATH.exec(path) ?? [];
  const isPartial = width !== TILE_WIDTH;
  if (level === undefined || Number(level) > MAX_LEVEL || groups.startsWith('x000')) return null;
  if (isPartial && Number(width) >= TILE_WIDTH) return null;
  return { level: Number(level), index: Number(groups.replace(/[x/]/g, '')), width: Number(width) };
}

/** Returns the hashes of a tile. Throws `not_found` unless the newest published checkpoint covers all of them. */
export async function readPublicTile(db: Db, path: string): Promise<Buffer> {
  const tile = parseTilePath(path);
  if (tile === null) throw new ApiError('not_found');
  const found = await findTile(db, tile);
  const bytes = tile.width * HASH_BYTES;
  const isPublished =
    found !== undefined && tile.index * TILE_WIDTH + tile.width <= countHashes(found.size, tile.level);
  if (!isPublished || found.hashes.length < bytes) throw new ApiError('not_found');
  return found.hashes.subarray(0, bytes);
}
