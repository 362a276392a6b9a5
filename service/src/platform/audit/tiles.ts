import { ApiError } from '../../kernel/errors.ts';
import type { Db } from '../db/pool.ts';
import { hashEntry } from './chain.ts';
import { type CheckpointKeys, openTreeCheckpoint } from './checkpoint.ts';
import { findLastSealed, findTreeCheckpoint } from './store.ts';
import {
  appendToTiles,
  findBlindingKey,
  findTile,
  listLeafHashes,
  readTiles,
  readTreeSize,
} from './tile-store.ts';
import {
  appendLeaf,
  collectTiles,
  countHashes,
  HASH_BYTES,
  hashTreeLeaf,
  partialTiles,
  rootOf,
  TILE_WIDTH,
  type Tile,
  type TileId,
  type Tree,
  treeFromTiles,
} from './tree.ts';

/** The leaf that takes the place of an entry that was deleted before the log had a tree. */
const DELETED = hashEntry('deleted');

/** Returns the tree over the first `size` entries. Throws an error if the tiles lack some of its hashes. */
export async function readTree(db: Db, size: number): Promise<Tree> {
  return treeFromTiles(size, await readTiles(db, partialTiles(size)));
}

/**
 * Returns the tree of the newest checkpoint. Throws an error if this installation did not sign the checkpoint, or if
 * the tiles differ from the checkpoint.
 */
export async function readSignedTree(db: Db, keys: CheckpointKeys): Promise<Tree> {
  const newest = await findTreeCheckpoint(db);
  if (newest === undefined) return { size: 0, peaks: [] };
  const signed = openTreeCheckpoint(keys, newest.note);
  if (signed?.size !== newest.size)
    throw new Error('the newest checkpoint of the audit log is not signed by this installation');
  const tree = await readTree(db, Number(newest.size));
  if (!rootOf(tree).equals(signed.hash))
    throw new Error('the tiles of the audit log differ from its newest checkpoint');
  return tree;
}

/**
 * Adds at most `limit` sealed entries to the tiles, and returns the extended tree. The caller must have verified the
 * tree and must hold the sealing lock. Entries up to `start` may have been deleted. Throws an error if a later entry is
 * missing, or if the tiles already contain hashes that differ from the entries.
 */
export async function extendTree(
  tx: Db,
  { size, peaks }: Tree,
  { start, limit }: { start: number; limit: number },
): Promise<Tree> {
  const [stored, last] = [await readTreeSize(tx), Number((await findLastSealed(tx))?.position ?? 0n)];
  if (Math.max(size, stored) > last)
    throw new Error(`the tiles have ${Math.max(size, stored)} entries, but the log has only ${last}`);
  const key = await findBlindingKey(tx);
  const entries = await listLeafHashes(tx, BigInt(size), limit);
  const tree = { size, peaks: [...peaks] };
  const { onTileHash, take } = collectTiles(size);
  for (const { position, leaf_hash } of entries) {
    for (
      ;
      tree.size + 1 < Number(position) && tree.size < size + limit;
      appendLeaf(tree, DELETED, onTileHash)
    )
      if (tree.size >= start) throw new Error(`entry ${tree.size + 1} of the audit log is missing`);
    if (tree.size === size + limit) break;
    appendLeaf(tree, hashTreeLeaf(key, position, leaf_hash), onTileHash);
  }
  await addToTiles(tx, size, take());
  return tree;
}

/**
 * Appends hashes to the stored tiles. `parts` has the hashes to add to a tree with `size` leaves, grouped by tile.
 * Skips hashes that are already stored. Throws an error if a stored hash differs from the one in `parts`.
 */
async function addToTiles(tx: Db, size: number, parts: readonly Tile[]): Promise<void> {
  const stored = await readTiles(tx, parts);
  const missing = parts.map((part) => {
    const { level, index, hashes } = part;
    const before = Math.max(0, countHashes(size, level) - index * TILE_WIDTH) * HASH_BYTES;
    const tile = stored.find((each) => each.level === level && each.index === index);
    const known = (tile?.hashes ?? Buffer.alloc(0)).subarray(before, before + hashes.length);
    if (!known.equals(hashes.subarray(0, known.length)))
      throw new Error(`tile ${level}/${index} differs from the entries of the audit log`);
    return { ...part, hashes: hashes.subarray(known.length) };
  });
  await appendToTiles(
    tx,
    missing.filter(({ hashes }) => hashes.length > 0),
  );
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
