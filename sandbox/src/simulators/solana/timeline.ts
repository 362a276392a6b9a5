import { createHash } from 'node:crypto';

/** A blockhash is valid for transactions in the 150 blocks that follow its block. */
export const MAX_BLOCKHASH_AGE = 150;

/** The number of recent slots for which a node keeps blockhashes, account versions and statuses. */
export const KEPT_SLOTS = 300;

type Branch = { from: number; fork: number };
type Gap = { from: number; to: number };

/**
 * Derives block hashes from slot numbers. A block's hash depends only on its slot and branch, so millions of empty
 * slots cost nothing.
 */
export type Timeline = {
  blockhash(slot: number): Buffer;
  /** The number of blocks up to this slot, not counting skipped slots. */
  height(slot: number): number;
  isSkipped(slot: number): boolean;
  /** Returns the latest slot at or before `slot` that has a block. */
  lastBlock(slot: number): number;
  /**
   * Returns the slot of the block with this hash. Returns undefined if a transaction in `slot` cannot use the hash
   * because the hash is unknown, too old or from a later slot.
   */
  findBlockhash(hash: Buffer, slot: number): number | undefined;
  /** Replaces the blocks from this slot on. */
  fork(from: number): void;
  skip(gap: Gap): void;
};

export function createTimeline(seed: string): Timeline {
  // Branches in order of creation. Each replaces the earlier branches from its first slot on.
  const branches: Branch[] = [{ from: 0, fork: 0 }];
  const gaps: Gap[] = [];
  const known = new Map<string, number>();
  let indexedTo = -1;

  const isSkipped = (slot: number) => gaps.some(({ from, to }) => slot >= from && slot <= to);
  const lastBlock = (slot: number) => {
    let found = slot;
    while (isSkipped(found)) found -= 1;
    return found;
  };
  const height = (slot: number) =>
    gaps.reduce((blocks, { from, to }) => blocks - Math.max(0, Math.min(slot, to) - from + 1), slot);
  const blockhash = (slot: number) => {
    const fork = branches.findLast(({ from }) => from <= slot)?.fork ?? 0;
    return createHash('sha256').update(`${seed}:${fork}:${slot}`).digest();
  };

  function indexTo(slot: number): void {
    for (let next = Math.max(indexedTo + 1, slot - KEPT_SLOTS, 0); next <= slot; next++) {
      if (!isSkipped(next)) known.set(blockhash(next).toString('hex'), next);
      indexedTo = next;
    }
    for (const [hash, at] of known) {
      if (at >= slot - KEPT_SLOTS) break;
      known.delete(hash);
    }
  }

  return {
    blockhash,
    height,
    isSkipped,
    lastBlock,
    findBlockhash: (hash, slot) => {
      indexTo(slot);
      const found = known.get(Buffer.from(hash).toString('hex'));
      if (found === undefined || found > slot) return undefined;
      return height(slot) - height(found) <= MAX_BLOCKHASH_AGE ? found : undefined;
    },
    fork: (from) => {
      branches.push({ from, fork: branches.length });
      for (const [hash, slot] of known) if (slot >= from) known.delete(hash);
      indexedTo = Math.min(indexedTo, from - 1);
    },
    skip: (gap) => {
      gaps.push(gap);
    },
  };
}
