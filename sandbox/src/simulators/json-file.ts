import { readFile, rename, writeFile } from 'node:fs/promises';

export type JsonFile<T> = {
  data: T;
  /** Resolves when the current `data` is on disk. */
  save(): Promise<void>;
};

/** Opens a small state file. Each save writes the whole state to a new file, which then replaces the old file. */
export async function openJsonFile<T extends object>(path: string, initial: T): Promise<JsonFile<T>> {
  const stored = await readFile(path, 'utf8').catch(() => null);
  const data: T = stored === null ? initial : { ...initial, ...JSON.parse(stored) };
  let writing: Promise<void> = Promise.resolve();
  const write = async () => {
    await writeFile(`${path}.new`, JSON.stringify(data), { mode: 0o600 });
    await rename(`${path}.new`, path);
  };
  return {
    data,
    save: () => {
      const saved = writing.then(write);
      writing = saved.catch(() => undefined);
      return saved;
    },
  };
}
