import type { Db } from '../db/pool.ts';
import { ApiError } from '../errors.ts';
import { hashEntry } from './chain.ts';
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
  TILE_WIDTH,
  type TileId,
  type Tree,
  treeFromTiles,
} from './tree.ts';

/** The leaf of an entry that was deleted before the log had a tree. */
const DELETED = hashEntry('deleted');

/** Returns the tree over the first `size` entries. Throws an error if the tiles lack some of its hashes. */
export async function readTree(db: Db, size: number): Promise<Tree> {
  return treeFromTiles(size, await readTiles(db, partialTiles(size)));
}

/**
 * Adds at most `limit` sealed entries to the tree and returns it. Call it under the sealing lock. It also adds what was sealed
 * before the log had a tree, or by nodes that know none.
 */
export async function extendTree(tx: Db, limit: number): Promise<Tree> {
  const tree = await readTree(tx, await readTreeSize(tx));
  const key = await findBlindingKey(tx);
  const entries = await listLeafHashes(tx, BigInt(tree.size), limit);
  const { onTileHash, take } = collectTiles(tree.size);
  for (const { position, leaf_hash } of entries) {
    while (tree.size + 1 < Number(position)) appendLeaf(tree, DELETED, onTileHash);
    appendLeaf(tree, hashTreeLeaf(key, position, leaf_hash), onTileHash);
  }
  if (entries.length > 0) await appendToTiles(tx, take());
  return tree;
}

const TILE_PATH = /^(0|[1-9]\d?)\/((?:x\d{3}\/){0,4}\d{3})(?:\.p\/([1-9]\d{0,2}))?$/;
const MAX_LEVEL = 63;

/** Reads a path such as `0/x001/234.p/7` (C2SP tlog-tiles), or returns null if it names no tile. */
export function parseTilePath(path: string): (TileId & { width: number }) | null {
  const [, level, groups = '', width = TILE_WIDTH] = TILE_PATH.exec(path) ?? [];
  const isPartial = width !== TILE_WIDTH;
  if (level === undefined || Number(level) > MAX_LEVEL || groups.startsWith('x000')) return null;
  if (isPartial && Number(width) >= TILE_WIDTH) return null;
  return { level: Number(level), index: Number(groups.replace(/[x/]/g, '')), width: Number(width) };
}

/** Returns the hashes of a tile. Throws `not_found` for hashes that the newest published checkpoint does not cover. */
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
