import { expect, test } from 'vitest';
import { describeHours, regularHours } from '../page/src/screens/market-hours.ts';

test('regular hours follow the user’s time zone and the daylight saving of New York', () => {
  expect(regularHours(new Date('2026-07-01T12:00:00Z'), 'Europe/Berlin')).toBe('15:30–22:00');
  // In 2026, daylight saving time starts three weeks earlier in New York than in Berlin.
  expect(regularHours(new Date('2026-03-16T12:00:00Z'), 'Europe/Berlin')).toBe('14:30–21:00');
  expect(regularHours(new Date('2026-01-02T03:00:00Z'), 'Asia/Tokyo')).toBe('23:30–06:00');
});

test('the hours say until when the market is open or closed', () => {
  const now = new Date('2026-07-01T18:00:00Z');
  const open = { is_open: true, session: 'regular', opens_at: null } as const;
  const describe = (hours: Parameters<typeof describeHours>[0]) => describeHours(hours, now, 'Europe/Berlin');
  expect(describe({ ...open, closes_at: '2026-07-01T19:59:00.000000Z' })).toBe('Open until 21:59');
  expect(describe({ ...open, closes_at: null })).toBe('Open');
  const closed = { is_open: false, session: 'offhours', closes_at: null } as const;
  expect(describe({ ...closed, opens_at: '2026-07-06T00:05:00.000000Z' })).toBe('Closed, opens Mon 02:05');
  expect(describe({ ...closed, session: 'paused', opens_at: null })).toBe('Paused');
  expect(describe({ is_open: null, session: null, opens_at: null, closes_at: null })).toBe('Unknown');
});
