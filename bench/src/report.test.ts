import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
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
