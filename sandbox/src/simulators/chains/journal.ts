import type { Hex } from 'viem';
import { openJournal } from '../journal.ts';

/** A mined block, with everything needed to mine it again. Replay must reproduce `hash`. */
export type BlockRecord = {
  block: number;
  hash: Hex;
  timestamp: number;
  randao: Hex;
  baseFee: Hex;
  transactions: Hex[];
};

/** A reorg that dropped the last `drop` blocks. The records after it are the new branch. */
export type ReorgRecord = { drop: number };

export type BlockJournal = {
  /** The blocks of the current branch, in order. */
  blocks: BlockRecord[];
  /** The number of reorgs. It affects the randomness of later blocks. */
  forks: number;
  /** Resolves when the records are on disk. */
  append(records: (BlockRecord | ReorgRecord)[]): Promise<void>;
  close(): Promise<void>;
};

/** Opens a chain's journal and reads the blocks of the current branch. */
export async function openBlockJournal(path: string): Promise<BlockJournal> {
  const { records, append, close } = await openJournal<BlockRecord | ReorgRecord>(path);
  const blocks: BlockRecord[] = [];
  let forks = 0;
  for (const record of records) {
    if ('drop' in record) {
      blocks.length -= record.drop;
      forks += 1;
    } else {
      blocks.push(record);
    }
  }
  return { blocks, forks, append, close };
}
