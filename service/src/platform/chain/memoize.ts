export type Memoize = <T>(key: string, load: () => Promise<T>) => Promise<T>;

const MAX_MEMOIZED = 10_000;

/** Caches values that never change. Failed loads are not cached. */
export function createMemoize(): Memoize {
  const memoized = new Map<string, Promise<unknown>>();
  return <T>(key: string, load: () => Promise<T>) => {
    const known = memoized.get(key);
    if (known !== undefined) return known as Promise<T>;
    const value = load();
    if (memoized.size >= MAX_MEMOIZED) memoized.delete(memoized.keys().next().value ?? '');
    memoized.set(key, value);
    value.catch(() => memoized.delete(key));
    return value;
  };
}
