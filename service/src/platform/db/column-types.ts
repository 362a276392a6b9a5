import pg from 'pg';

const { builtins } = pg.types;
const TEXT_ARRAY: number = 1009;
const ARRAYS = { int8: 1016, numeric: 1231, timestamptz: 1185, date: 1182, varchar: 1015, uuid: 2951 };

/**
 * Converts a timestamp that PostgreSQL has printed in UTC, such as `2026-01-02 03:04:05.6789+00`, to the wire form,
 * such as `2026-01-02T03:04:05.678900Z`. `Date` would lose the microseconds. Infinities are returned unchanged.
 */
export function parseTimestamp(text: string): string {
  const match = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?\+00$/.exec(text);
  if (match) return `${match[1]}T${match[2]}.${(match[3] ?? '').padEnd(6, '0')}Z`;
  if (text === 'infinity' || text === '-infinity') return text;
  // Either the session does not use UTC, or the year does not fit the wire format. Throws rather than return a wrong
  // time.
  throw new Error(`the timestamp cannot be converted to the format of the API: ${text}`);
}

function keepText(text: string): string {
  return text;
}

const readArray: (text: string) => (string | null)[] = pg.types.getTypeParser(TEXT_ARRAY, 'text');

/**
 * Splits the text form of an array. Most arrays have one dimension, no quotes and no nulls, so splitting at the commas
 * is enough. Other arrays need `pg`'s parser, which reads character by character. Using that parser for all arrays
 * would slow down the check of an access token, which reads several arrays.
 */
export function splitArray(text: string): (string | null)[] {
  if (text === '{}') return [];
  const isPlain = text.startsWith('{') && !/["\\]|NULL|.\{/s.test(text);
  return isPlain ? text.slice(1, -1).split(',') : readArray(text);
}

function parseList<T>(parseOne: (text: string) => T): (text: string) => (T | null)[] {
  return (text) => splitArray(text).map((item) => (item === null ? null : parseOne(item)));
}

/**
 * int8 becomes `bigint`. numeric stays a string, because some numerics have fractions. Amounts are numeric(78,0), so
 * the stores convert them with `BigInt`.
 */
const parsers = new Map<number, (text: string) => unknown>([
  [builtins.INT8, BigInt],
  [builtins.NUMERIC, keepText],
  [builtins.TIMESTAMPTZ, parseTimestamp],
  [builtins.DATE, keepText],
  [TEXT_ARRAY, splitArray],
  [ARRAYS.varchar, splitArray],
  [ARRAYS.uuid, splitArray],
  [ARRAYS.int8, parseList(BigInt)],
  [ARRAYS.numeric, parseList(keepText)],
  [ARRAYS.timestamptz, parseList(parseTimestamp)],
  [ARRAYS.date, parseList(keepText)],
]);

export const columnTypes: pg.CustomTypesConfig = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    const custom = format === 'binary' ? undefined : parsers.get(oid);
    return custom ?? pg.types.getTypeParser(oid, format ?? 'text');
  },
};
