import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { exponents } from './growth.ts';
import { renderReport } from './report.ts';
import { judge } from './result.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

test('docs/benchmarks.md and its plots are what `npm run bench -- --report` makes of bench/results', () => {
  const rendered = renderReport();
  expect(Object.keys(rendered)).toContain('docs/benchmarks.md');
  for (const [path, text] of Object.entries(rendered))
    expect(readFileSync(`${ROOT}${path}`, 'utf8') === text, `${path} is stale`).toBe(true);
});

test('a limit inside the spread of the rounds decides nothing', () => {
  const bar = { label: '', value: 0.7, min: 0.67 };
  expect(judge({ ...bar, rounds: [0.66, 0.7, 0.71] })).toMatch(/not decided/);
  expect(judge({ ...bar, rounds: [0.68, 0.7, 0.71] })).toBe('met');
  expect(judge({ ...bar, value: 0.6, rounds: [0.59, 0.6, 0.61] })).toBe('MISSED');
});

test('the exponent shows growth behind a fixed cost, and growth that begins late', () => {
  const sizes = [1, 10, 100];
  const cost = (of: (size: number) => number) =>
    Object.fromEntries(sizes.map((size) => [size, Array.from({ length: 5 }, () => of(size))]));
  const first = (of: (size: number) => number, expected: 'flat' | 'linear') =>
    exponents(sizes, cost(of), expected)[0];
  expect(first((size) => 1800 + 20 * size, 'linear')).toBeCloseTo(1);
  expect(first((size) => 1800 + 0.5 * size ** 2, 'linear')).toBeGreaterThan(1.5);
  expect(first(() => 500, 'flat')).toBeCloseTo(0);
  expect(first((size) => 500 + 2.9 * size, 'flat')).toBeGreaterThan(0.1);
  // The cost grows only between the two smallest sizes, as it does when a cache fills up.
  expect(first((size) => (size === 1 ? 400 : 500), 'flat')).toBeCloseTo(0);
});
