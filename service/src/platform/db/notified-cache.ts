import type { Listener } from './listen.ts';

/**
 * A cache of database reads. Notifications invalidate its values. While the listening connection is down, the cache
 * serves nothing and every load reads the database.
 */
export type NotifiedCache<V> = {
  get(key: string): V | undefined;
  /**
   * Reads a value and caches it. Concurrent loads of a key share one read. A value is not cached if it is null or
   * undefined. A value is also not cached if an invalidation arrived during the read, because the value may be stale.
   */
  load<R extends V | null | undefined>(key: string, read: () => Promise<R>): Promise<R>;
  delete(key: string): void;
  /** Removes the matching values. Default: all. */
  invalidate(matches?: (value: V) => boolean): void;
};

/** The cache holds at most `maxEntries` values. When full, it evicts its oldest value to add a new one. */
export function createNotifiedCache<V>(listener: Listener, maxEntries: number): NotifiedCache<V> {
  const values = new Map<string, V>();
  const reads = new Map<string, Promise<unknown>>();
  let generation = 0;

  const invalidate = (matches?: (value: V) => boolean): void => {
    generation++;
    reads.clear();
    if (matches === undefined) values.clear();
    else for (const [key, value] of values) if (matches(value)) values.delete(key);
  };
  listener.onLost(() => invalidate());
  listener.onRestored(() => invalidate());

  const store = (key: string, value: V): void => {
    values.delete(key);
    const [oldest] = values.keys();
    if (values.size >= maxEntries && oldest !== undefined) values.delete(oldest);
    values.set(key, value);
  };
  const readAndStore = async <R extends V | null | undefined>(key: string, read: () => Promise<R>) => {
    const startedIn = generation;
    const value = await read();
    if (value !== null && value !== undefined && startedIn === generation && listener.isConnected())
      store(key, value as V);
    return value;
  };

  return {
    get: (key) => (listener.isConnected() ? values.get(key) : undefined),
    load: <R extends V | null | undefined>(key: string, read: () => Promise<R>): Promise<R> => {
      if (!listener.isConnected()) return read();
      const current = reads.get(key);
      if (current !== undefined) return current as Promise<R>;
      const started = readAndStore(key, read);
      reads.set(key, started);
      const finish = () => void (reads.get(key) === started && reads.delete(key));
      started.then(finish, finish);
      return started;
    },
    delete: (key) => void values.delete(key),
    invalidate,
  };
}
