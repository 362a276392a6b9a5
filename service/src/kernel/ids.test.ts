import { expect, test } from 'vitest';
import { realClock } from './clock.ts';
import { isId, newId, systemRandom } from './ids.ts';

test('random bytes have the requested size and never repeat, whatever is left of a block', () => {
  const sizes = [1, 10, 16, 32, 255, 256, 257, 5_000];
  const all = Array.from({ length: 2_000 }, (_, i) => systemRandom(sizes[i % sizes.length] ?? 1));
  expect(all.map(({ length }) => length)).toEqual(all.map((_, i) => sizes[i % sizes.length]));
  const long = all.filter(({ length }) => length >= 10).map((bytes) => bytes.toString('hex'));
  expect(new Set(long.map((text) => text.slice(0, 20))).size).toBe(long.length);
  expect(new Set(long.map((text) => text.slice(-20))).size).toBe(long.length);
});

test('ids are unique', () => {
  const ids = Array.from({ length: 5_000 }, () => newId(realClock(), systemRandom));
  expect(ids.every(isId)).toBe(true);
  expect(new Set(ids).size).toBe(ids.length);
});
