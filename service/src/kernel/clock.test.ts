import { expect, test } from 'vitest';
import { realClock, testClock } from './clock.ts';

test('micros is unique and strictly increasing', () => {
  for (const clock of [realClock(), testClock(1_000)]) {
    const readings = Array.from({ length: 100 }, () => clock.micros());
    expect(readings).toEqual([...new Set(readings)].sort((a, b) => a - b));
  }
});

test('the real clock has microseconds and follows the system time', async () => {
  const clock = realClock();
  const readings: number[] = [];
  for (let i = 0; i < 30; i++) {
    await new Promise((resolve) => setTimeout(resolve, 1));
    readings.push(clock.micros());
    expect(Math.abs((readings.at(-1) ?? 0) / 1000 - Date.now())).toBeLessThan(10);
  }
  const fractions = new Set(readings.map((reading) => reading % 1000));
  expect(fractions.size).toBeGreaterThan(15);
});

test('the test clock stands still until it is moved forward or back', () => {
  const clock = testClock(1_000);
  expect([clock.now(), clock.now()]).toEqual([1_000, 1_000]);
  clock.advance(2.5);
  expect([clock.now(), clock.micros()]).toEqual([3_500, 3_500_000]);
  clock.set(10);
  expect([clock.now(), clock.micros(), clock.micros()]).toEqual([10, 10_000, 10_001]);
});
