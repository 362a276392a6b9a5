import { type FileHandle, open } from 'node:fs/promises';
import type { Hex } from 'viem';

/** A mined block, with all that is needed to mine it again. Replay must reproduce `hash`. */
export type BlockRecord = { block: number; hash: Hex; timestamp: number; randao: Hex; transactions: Hex[] };

/** A reorg that dropped the last `drop` blocks. The records after it are the new branch. */
export type ReorgRecord = { drop: number };

export type JournalRecord = BlockRecord | ReorgRecord;

export type Journal = {
  /** The blocks of the current branch, in order. */
  blocks: BlockRecord[];
  /** The number of reorgs. Seeds the randomness of later blocks. */
  forks: number;
  /** Resolves when the records are on disk. */
  append(records: JournalRecord[]): Promise<void>;
  close(): Promise<void>;
};

/** Opens a chain's append-only journal and truncates a last line that a crash left incomplete. */
export async function openJournal(path: string): Promise<Journal> {
  const file = await open(path, 'a+', 0o600);
  const content = await file.readFile();
  const end = content.lastIndexOf(0x0a) + 1;
  if (end < content.length) await file.truncate(end);
  const journal = applyRecords(parseLines(content.subarray(0, end).toString('utf8')));
  return {
    ...journal,
    append: (records) => appendRecords(file, records),
    close: () => file.close(),
  };
}

function parseLines(text: string): JournalRecord[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line, index) => {
      try {
        return JSON.parse(line) as JournalRecord;
      } catch {
        throw new Error(
          `line ${index + 1} of the chain journal is damaged: delete the data folder to start over`,
        );
      }
    });
}

function applyRecords(records: JournalRecord[]): { blocks: BlockRecord[]; forks: number } {
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
  return { blocks, forks };
}

async function appendRecords(file: FileHandle, records: JournalRecord[]): Promise<void> {
  await file.appendFile(records.map((record) => `${JSON.stringify(record)}\n`).join(''));
  await file.datasync();
}
