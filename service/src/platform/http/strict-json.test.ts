import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ApiError } from '../../kernel/errors.ts';
import { MALFORMED, parseForm, parseQuery } from './query-string.ts';
import { parseStrictJson } from './strict-json.ts';

const parse = (text: string) => parseStrictJson(Buffer.from(text));

test('parses every JSON value like JSON.parse', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
      const text = JSON.stringify(value);
      fc.pre(!text.includes('\\u0000') && !text.includes('__proto__'));
      expect(parse(text)).toEqual(JSON.parse(text));
    }),
  );
});

test.each([
  ['duplicate keys', '{"a":1,"a":2}'],
  ['escaped duplicate keys', '{"a":1,"\\u0061":2}'],
  ['nested duplicate keys', '{"x":[{"b":{"c":1},"b":2}]}'],
  ['__proto__', '{"__proto__":{"admin":true}}'],
  ['NUL', '{"a":"\\u0000"}'],
  ['NUL after an escaped backslash', '{"a":"\\\\\\u0000"}'],
  ['NUL in a key', '{"\\u0000":1}'],
  ['deep nesting', `${'['.repeat(33)}${']'.repeat(33)}`],
  ['trailing text', '{} x'],
  ['a single quote', "{'a':1}"],
  ['an empty text', ' '],
])('rejects %s', (_name, text) => {
  expect(() => parse(text)).toThrow(ApiError);
});

test('accepts an escaped backslash before u0000, which is no NUL', () => {
  for (const value of ['\\u0000', '\\\\u0000', { 'C:\\u0000': 'a\\u0000' }])
    expect(parse(JSON.stringify(value))).toEqual(value);
});

test('accepts a key that recurs in sibling objects, in strings or as a value', () => {
  expect(parse('[{"a":"{\\"a\\":1}"},{"a":["a","a"]},{"b":{"a":1},"a":2}]')).toHaveLength(3);
});

test('rejects invalid UTF-8', () => {
  expect(() => parseStrictJson(Buffer.from([0x22, 0xff, 0x22]))).toThrow('UTF-8');
});

test('any text gives a value or an ApiError', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'{}[]",:\\a0u \n') }), (text) => {
      try {
        parse(text);
      } catch (error) {
        expect(error).toBeInstanceOf(ApiError);
      }
    }),
    { numRuns: 2000 },
  );
});

test('queries round-trip, repeated names become lists, and bad escapes are marked', () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.string({ minLength: 1, unit: 'grapheme' }), fc.string({ unit: 'grapheme' })),
      (wanted) => {
        fc.pre(!JSON.stringify(wanted).includes('\\u0000') && !('__proto__' in wanted));
        const text = Object.entries(wanted)
          .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
          .join('&');
        expect({ ...parseQuery(text) }).toEqual(wanted);
        expect({ ...parseForm(Buffer.from(text)) }).toEqual(wanted);
      },
    ),
  );
  expect(parseQuery('a=1&a=2&b=+%2B')).toMatchObject({ a: ['1', '2'], b: ' +' });
  for (const bad of ['a=%zz', 'a=%ff', '%00=1', 'a=%']) expect(parseQuery(bad)[MALFORMED]).toBe(true);
  expect(parseForm(Buffer.from('a=1&a=2'))).toBeNull();
});
