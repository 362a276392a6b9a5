import pg from 'pg';

const { builtins } = pg.types;
const textArray: number = 1009;
const arrays = { int8: 1016, numeric: 1231, timestamptz: 1185, date: 1182 };

/**
 * `2026-01-02 03:04:05.6789+00` as PostgreSQL prints it in UTC, to `2026-01-02T03:04:05.678900Z` as it goes over the
 * wire. `Date` would lose the microseconds. The infinities pass unchanged.
 */
export function parseTimestamp(text: string): string {
  const match = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?\+00$/.exec(text);
  if (match) return `${match[1]}T${match[2]}.${(match[3] ?? '').padEnd(6, '0')}Z`;
  if (text === 'infinity' || text === '-infinity') return text;
  // A session in another zone, or a year that the wire form cannot say: a wrong time must not get through.
  throw new Error(`The database sent a time that has no wire form: ${text}`);
}

function keepText(text: string): string {
  return text;
}

function parseList<T>(parseOne: (text: string) => T): (text: string) => (T | null)[] {
  const split: (text: string) => (string | null)[] = pg.types.getTypeParser(textArray, 'text');
  return (text) => split(text).map((item) => (item === null ? null : parseOne(item)));
}

/**
 * int8 is `bigint`. numeric is a string: numeric(78,0) holds money and is made `BigInt(text)` by the store that knows
 * it to be whole, while other numerics have fractions.
 */
const parsers = new Map<number, (text: string) => unknown>([
  [builtins.INT8, BigInt],
  [builtins.NUMERIC, keepText],
  [builtins.TIMESTAMPTZ, parseTimestamp],
  [builtins.DATE, keepText],
  [arrays.int8, parseList(BigInt)],
  [arrays.numeric, parseList(keepText)],
  [arrays.timestamptz, parseList(parseTimestamp)],
  [arrays.date, parseList(keepText)],
]);

export const columnTypes: pg.CustomTypesConfig = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    const own = format === 'binary' ? undefined : parsers.get(oid);
    return own ?? pg.types.getTypeParser(oid, format ?? 'text');
  },
};
