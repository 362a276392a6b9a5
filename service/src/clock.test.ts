import { expect, test } from 'vitest';
import { realClock, testClock } from './clock.ts';

test('micros is unique and strictly increasing', () => {
  for (const clock of [realClock(), testClock(1_000)]) {
    const readings = Array.from({ length: 100 }, () => clock.micros());
    expect(readings).toEqual([...new Set(readings)].sort((a, b) => a - b));
  }
});

test('the test clock stands still until it is moved forward or back', () => {
  const clock = testClock(1_000);
  expect([clock.now(), clock.now()]).toEqual([1_000, 1_000]);
  clock.advance(2.5);
  expect([clock.now(), clock.micros()]).toEqual([3_500, 3_500_000]);
  clock.set(10);
  expect([clock.now(), clock.micros(), clock.micros()]).toEqual([10, 10_000, 10_001]);
});
