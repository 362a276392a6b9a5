/** A JSON schema as in openapi.json. */
export type Schema = {
  $ref?: string;
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  format?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  examples?: unknown[];
  minimum?: number;
  maximum?: number;
};

export type Random = { next(): number; pick<T>(list: readonly T[]): T; chance(probability: number): boolean };

/** Returns the same choices for the same seed (mulberry32). */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    next,
    pick: <T>(list: readonly T[]): T => list[Math.floor(next() * list.length)] as T,
    chance: (probability) => next() < probability,
  };
}

const HOSTILE: readonly unknown[] = [
  ...[
    '',
    ' ',
    '0',
    '-1',
    '1e9',
    'null',
    '%00',
    '\u0000',
    '🂡',
    "'; drop table users; --",
    '../../etc/passwd',
    '__proto__',
  ],
  ...[
    'x'.repeat(5000),
    '9'.repeat(80),
    '0x',
    `0x${'0'.repeat(40)}`,
    `0x${'f'.repeat(64)}`,
    '2026-13-45T99:99:99Z',
  ],
  ...[null, true, 0, -1, 1.5, 2 ** 53, [], {}, [[[]]], { a: { b: [] } }],
];

/**
 * Builds values for schemas: mostly valid values, some edge cases, and some hostile values. `known`: values that exist
 * in the running service.
 */
export function createArbitrary(
  random: Random,
  resolve: (schema: Schema) => Schema,
  known: readonly string[],
) {
  const text = (schema: Schema): string => {
    if (schema.examples !== undefined && random.chance(0.5)) return String(random.pick(schema.examples));
    return random.pick([...known, 'text', String(Math.floor(random.next() * 1e6)), ...wellFormed(random)]);
  };
  const value = (given: Schema, depth = 0): unknown => {
    const schema = resolve(given);
    if (random.chance(0.06)) return random.pick(HOSTILE);
    if (schema.const !== undefined) return schema.const;
    if (schema.enum !== undefined) return random.pick(schema.enum);
    const choices = schema.anyOf ?? schema.oneOf;
    if (choices !== undefined) return value(random.pick(choices), depth + 1);
    const type = Array.isArray(schema.type) ? random.pick(schema.type) : schema.type;
    if (type === 'integer' || type === 'number')
      return random.pick([schema.minimum ?? 0, schema.maximum ?? 100, 1, 7, (schema.maximum ?? 100) + 1]);
    if (type === 'boolean') return random.chance(0.5);
    if (type === 'null') return null;
    if (type === 'array')
      return Array.from({ length: Math.floor(random.next() * 3) }, () =>
        value(schema.items ?? {}, depth + 1),
      );
    if (type === 'object' && depth < 5) return object(schema, depth);
    return text(schema);
  };
  const object = ({ properties = {}, required = [] }: Schema, depth: number): Record<string, unknown> => {
    const members = Object.entries(properties).flatMap(([name, schema]): [string, unknown][] =>
      random.chance(required.includes(name) ? 0.95 : 0.5) ? [[name, value(schema, depth + 1)]] : [],
    );
    if (random.chance(0.05)) members.push([random.pick(['unknown', '__proto__', 'constructor', '']), 'x']);
    return Object.fromEntries(members);
  };
  return { value };
}

function wellFormed(random: Random): string[] {
  const hex = (length: number) =>
    Array.from({ length }, () => Math.floor(random.next() * 16).toString(16)).join('');
  return [
    `0x${hex(40)}`,
    `0x${hex(64)}`,
    `${hex(8)}-${hex(4)}-7${hex(3)}-8${hex(3)}-${hex(12)}`,
    'https://partner.example/x',
    'ada@user.test',
    '2026-01-02T03:04:05.678901Z',
    '1000000',
    '12.5',
  ];
}
