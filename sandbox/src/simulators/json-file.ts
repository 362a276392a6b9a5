import { readFile, rename, writeFile } from 'node:fs/promises';

export type JsonFile<T> = {
  data: T;
  /** Resolves when what `data` is now is on the disk. */
  save(): Promise<void>;
};

/** A small state that survives its process: the whole of it is written anew, and takes the old one's place at once. */
export async function openJsonFile<T extends object>(path: string, initial: T): Promise<JsonFile<T>> {
  const known = await readFile(path, 'utf8').catch(() => null);
  const data: T = known === null ? initial : { ...initial, ...JSON.parse(known) };
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
