/**
 * Reads an item from local storage. Returns null if the item does not exist or if the browser blocks local storage, so
 * callers must work without the item.
 */
export function readItem(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

/** Stores `value`, or removes the item if `value` is null. */
export function writeItem(key: string, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(key);
    else localStorage.setItem(key, value);
  } catch {}
}

/** Returns the values of all items with a key that starts with `prefix`, sorted by key. */
export function readItems(prefix: string): (string | null)[] {
  try {
    const keys = Object.keys(localStorage).filter((key) => key.startsWith(prefix));
    return keys.sort().map(readItem);
  } catch {
    return [];
  }
}
