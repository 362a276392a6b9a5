/**
 * Serializes a value to JSON, with object members sorted at every level, so that equal values give equal
 * text.
 */
export function stableJson(value: unknown): string {
  return JSON.stringify(value, (_key, item) => (isPlainObject(item) ? sortMembers(item) : item)) ?? '';
}

export function sortMembers<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) as T;
}

function isPlainObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
