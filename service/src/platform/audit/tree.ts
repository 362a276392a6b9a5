import { hash as digest } from 'node:crypto';

/** The audit log is not what this installation has signed. The message names the first difference. */
export class AuditProblem extends Error {}

/** The height of a tile in levels of the tree (C2SP tlog-tiles). */
const TILE_HEIGHT = 8;
export const TILE_WIDTH = 2 ** TILE_HEIGHT;
export const HASH_BYTES = 32;

/** A Merkle tree (RFC 6962), reduced to the roots of its complete subtrees, largest first. */
export type Tree = { size: number; peaks: Buffer[] };

/** The hashes of one level arrive from left to right. */
export type OnTileHash = (level: number, hash: Buffer) => void;

export function appendLeaf(tree: Tree, leaf: Buffer, onTileHash: OnTileHash): void {
  let hash = leaf;
  onTileHash(0, hash);
  for (let level = 1, rest = tree.size; rest % 2 === 1; level++, rest = (rest - 1) / 2) {
    hash = hashNode(tree.peaks.pop() as Buffer, hash);
    if (level % TILE_HEIGHT === 0) onTileHash(level / TILE_HEIGHT, hash);
  }
  tree.peaks.push(hash);
  tree.size++;
}

/** Returns the root of a tree with at least one leaf. */
export function rootOf({ peaks }: Tree): Buffer {
  return peaks.reduceRight((right, left) => hashNode(left, right));
}

export function countHashes(size: number, level: number): number {
  return Math.floor(size / TILE_WIDTH ** level);
}

export type TileId = { level: number; index: number };
export type Tile = TileId & { hashes: Buffer };

/** From the top level down, with the width of each. All other tiles are full. */
export function partialTiles(size: number): (TileId & { width: number })[] {
  const tiles: (TileId & { width: number })[] = [];
  for (let level = 0; countHashes(size, level) > 0; level++) {
    const count = countHashes(size, level);
    const width = count % TILE_WIDTH;
    if (width > 0) tiles.unshift({ level, index: Math.floor(count / TILE_WIDTH), width });
  }
  return tiles;
}

export function treeFromTiles(size: number, tiles: readonly Tile[]): Tree {
  const peaks = partialTiles(size).flatMap(({ level, index, width }) => {
    const hashes = tiles.find((tile) => tile.level === level && tile.index === index)?.hashes;
    if (hashes === undefined || hashes.length < width * HASH_BYTES)
      throw new AuditProblem(`tile ${level}/${index} lacks hashes`);
    const tree: Tree = { size: 0, peaks: [] };
    for (const hash of splitHashes(hashes.subarray(0, width * HASH_BYTES)))
      appendLeaf(tree, hash, () => undefined);
    return tree.peaks;
  });
  return { size, peaks };
}

function splitHashes(hashes: Buffer): Buffer[] {
  return Array.from({ length: hashes.length / HASH_BYTES }, (_, n) =>
    hashes.subarray(n * HASH_BYTES, (n + 1) * HASH_BYTES),
  );
}

/** `take` returns the hashes since its last call by tile; for a tile that already had hashes, only the new ones. */
export function collectTiles(size: number): { onTileHash: OnTileHash; take(): Tile[] } {
  let tiles: (TileId & { parts: Buffer[] })[] = [];
  const counts: number[] = [];
  return {
    onTileHash: (level, hash) => {
      const count = counts[level] ?? countHashes(size, level);
      counts[level] = count + 1;
      const index = Math.floor(count / TILE_WIDTH);
      const open = tiles.findLast((tile) => tile.level === level);
      if (open?.index === index) open.parts.push(hash);
      else tiles.push({ level, index, parts: [hash] });
    },
    take: () => {
      const taken = tiles.map(({ parts, ...id }) => ({ ...id, hashes: Buffer.concat(parts) }));
      tiles = [];
      return taken;
    },
  };
}

const LEAF_PREFIX = Buffer.from([0]);
const NODE_PREFIX = Buffer.from([1]);

function hashNode(left: Buffer, right: Buffer): Buffer {
  return digest('sha256', Buffer.concat([NODE_PREFIX, left, right]), 'buffer');
}

/**
 * The key and eight bytes for the position. All inputs have the same length, which rules out length extension: a
 * plain hash is a pseudorandom function, and no HMAC is needed.
 */
const SALT_INPUT_BYTES = HASH_BYTES + 8;

/**
 * Without it, anyone could use the public hash to confirm a guess about the entry, such as that a user was put on
 * hold. Knowing one salt reveals nothing about others.
 */
export function saltOf(key: Buffer, position: number): Buffer {
  const bytes = Buffer.allocUnsafe(SALT_INPUT_BYTES);
  key.copy(bytes);
  bytes.writeBigUInt64BE(BigInt(position), HASH_BYTES);
  return digest('sha256', bytes, 'buffer');
}

/** Returns the leaf of an entry (RFC 6962): a hash of the salt and the stored text of the entry, byte for byte. */
export function hashEntry(key: Buffer, position: number, entry: string): Buffer {
  return digest('sha256', Buffer.concat([LEAF_PREFIX, saltOf(key, position), Buffer.from(entry)]), 'buffer');
}
