import { assert, integer, property } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseRetryAfter } from '../../platform/outbound/retry-after.ts';
import { retryDelayMs } from './deliver.ts';

const HOUR_MS = 3_600_000;

describe('the retry schedule', () => {
  test('has 11 attempts, the last 23 h 42 min after the first', () => {
    let total = 0;
    for (let attempt = 1; attempt <= 10; attempt++) total += retryDelayMs(attempt, 0.5, null) ?? Number.NaN;
    expect(Math.round(total / 60_000)).toBe(23 * 60 + 43);
    expect(retryDelayMs(11, 0.5, null)).toBeNull();
  });

  test('spreads the retries of a storm over ±20 %', () => {
    const delays = Array.from({ length: 100 }, (_, n) => retryDelayMs(6, n / 100, null) ?? 0);
    expect(Math.min(...delays)).toBe(0.8 * HOUR_MS);
    expect(Math.max(...delays)).toBeGreaterThan(1.19 * HOUR_MS);
    expect(new Set(delays).size).toBe(100);
  });

  test('Retry-After never shortens a delay and at most doubles it', () => {
    assert(
      property(integer({ min: 1, max: 10 }), integer({ min: 0, max: 999_999_999 }), (attempt, retryAfter) => {
        const plain = retryDelayMs(attempt, 0.3, null) ?? 0;
        const delay = retryDelayMs(attempt, 0.3, retryAfter) ?? 0;
        return delay >= plain && delay <= 2 * plain + 1;
      }),
    );
    expect(retryDelayMs(1, 0.5, 86_400)).toBe(10_000);
  });

  test('reads Retry-After in seconds and as a date', () => {
    const now = Date.parse('2026-01-02T00:00:00Z');
    expect(parseRetryAfter('120', now)).toBe(120);
    expect(parseRetryAfter('Fri, 02 Jan 2026 00:01:00 GMT', now)).toBe(60);
    expect(parseRetryAfter('Fri, 02 Jan 2020 00:01:00 GMT', now)).toBe(0);
    for (const value of ['soon', undefined]) expect(parseRetryAfter(value, now)).toBeNull();
  });
});
