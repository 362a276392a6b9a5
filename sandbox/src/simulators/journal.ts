import { type FileHandle, open } from 'node:fs/promises';

export type Journal<Record> = {
  /** The records found on disk, in order. */
  records: Record[];
  /** Resolves when the records are on disk. */
  append(records: Record[]): Promise<void>;
  close(): Promise<void>;
};

/** Opens an append-only file of JSON lines. Removes the last line if a crash left it incomplete. */
export async function openJournal<Record>(path: string): Promise<Journal<Record>> {
  const file = await open(path, 'a+', 0o600);
  const content = await file.readFile();
  const end = content.lastIndexOf(0x0a) + 1;
  if (end < content.length) await file.truncate(end);
  return {
    records: parseLines<Record>(content.subarray(0, end).toString('utf8')),
    append: (records) => appendRecords(file, records),
    close: () => file.close(),
  };
}

function parseLines<Record>(text: string): Record[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line, index) => {
      try {
        return JSON.parse(line) as Record;
      } catch {
        throw new Error(
          `line ${index + 1} of the chain journal is damaged; delete the data folder to start over`,
        );
      }
    });
}

async function appendRecords(file: FileHandle, records: unknown[]): Promise<void> {
  await file.appendFile(records.map((record) => `${JSON.stringify(record)}\n`).join(''));
  await file.datasync();
}
