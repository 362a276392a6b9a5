import type { Db } from '../db/pool.ts';
import { findBlindingKey, readTiles, readTreeSize } from './tile-store.ts';
import {
  appendLeaf,
  collectTiles,
  countHashes,
  HASH_BYTES,
  hashTreeLeaf,
  rootOf,
  splitHashes,
  TILE_WIDTH,
  type Tile,
  type Tree,
} from './tree.ts';

const TILE_BATCH_SIZE = 64;

/**
 * Returns a verifier that recomputes the log's Merkle tree and compares it with the stored tiles. The first `start`
 * entries have been deleted, so their leaves are read from the tiles. A forged leaf is still detected: it changes the
 * root, which must match the signed checkpoints.
 */
export async function createTreeVerifier(db: Db, start: number) {
  const stored = await readTreeSize(db);
  const key = await findBlindingKey(db);
  const tree: Tree = { size: 0, peaks: [] };
  const { onTileHash, take } = collectTiles(0);
  let open: Tile[] = [];
  let signed = 0;

  const compareTiles = async (isLast = false): Promise<string | null> => {
    open = mergeTiles([...open, ...take()]);
    const isOpen = ({ hashes }: Tile) => !isLast && hashes.length < TILE_WIDTH * HASH_BYTES;
    const complete = open.filter((tile) => !isOpen(tile));
    open = open.filter(isOpen);
    const found = new Map((await readTiles(db, complete)).map((tile) => [nameOf(tile), tile.hashes]));
    for (const tile of complete) {
      const count = countHashes(stored, tile.level) - tile.index * TILE_WIDTH;
      const expected = tile.hashes.subarray(0, Math.max(0, count) * HASH_BYTES);
      if (!(found.get(nameOf(tile)) ?? Buffer.alloc(0)).equals(expected))
        return `tile ${nameOf(tile)} differs from the entries`;
    }
    return null;
  };

  const known = Math.min(start, stored);
  let problem: string | null = null;
  for (let index = 0; index * TILE_WIDTH < known; index += TILE_BATCH_SIZE) {
    const ids = Array.from({ length: TILE_BATCH_SIZE }, (_, n) => ({ level: 0, index: index + n }));
    const tiles = (await readTiles(db, ids)).sort((a, b) => a.index - b.index);
    for (const leaf of tiles.flatMap(({ hashes }) => splitHashes(hashes)))
      if (tree.size < known) appendLeaf(tree, leaf, onTileHash);
    problem ??= await compareTiles();
  }
  // If entries were deleted but no tile is stored, their leaves are unknown, so there is no tree to verify.
  const hasTree = stored > 0 || start === 0;
  if (hasTree && tree.size < start)
    problem ??= `the tiles lack the leaves of ${start - tree.size} deleted entries`;

  return {
    append: (position: bigint, leafHash: Buffer) => {
      if (hasTree) appendLeaf(tree, hashTreeLeaf(key, position, leafHash), onTileHash);
    },
    /**
     * Returns whether `hash` is the root of the tree so far. If it is, `end` later reports a problem unless the stored
     * tiles cover at least the entries of that tree.
     */
    matches: (hash: Buffer): boolean => {
      if (tree.size === 0 || !rootOf(tree).equals(hash)) return false;
      signed = tree.size;
      return true;
    },
    /**
     * Returns the first difference between the stored tiles and the entries appended so far, or null if there is none.
     */
    compareTiles: async () => problem ?? (await compareTiles()),
    /** Compares the remaining tiles. Returns the first difference, or null if there is none. */
    end: async (): Promise<string | null> => {
      if (stored > tree.size) return `entry ${tree.size + 1} is missing: the tiles have ${stored} entries`;
      if (stored < signed)
        return `the tiles have ${stored} entries, but a checkpoint was signed for ${signed}`;
      return compareTiles(true);
    },
  };
}

function nameOf({ level, index }: Tile): string {
  return `${level}/${index}`;
}

/** Merges parts that belong to the same tile. */
function mergeTiles(parts: readonly Tile[]): Tile[] {
  const tiles = new Map<string, Tile>();
  for (const part of parts) {
    const known = tiles.get(nameOf(part));
    tiles.set(nameOf(part), known ? { ...known, hashes: Buffer.concat([known.hashes, part.hashes]) } : part);
  }
  return [...tiles.values()];
}
