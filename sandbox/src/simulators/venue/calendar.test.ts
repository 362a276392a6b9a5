import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createCalendar } from './calendar.ts';
import { dayOf, isTradingDay } from './holidays.ts';

const calendar = createCalendar();
const at = (text: string) => calendar(Date.parse(text));
/** New York's standard and daylight saving time. */
const EST = '-05:00';
const EDT = '-04:00';

describe('a trading day', () => {
  it.each([
    ['03:54:59', 'overnight'],
    ['03:55:00', 'paused'],
    ['04:01:00', 'premarket'],
    ['09:29:00', 'paused'],
    ['09:31:00', 'regular'],
    ['15:58:59', 'regular'],
    ['15:59:00', 'paused'],
    ['16:01:00', 'postmarket'],
    ['19:59:00', 'paused'],
    ['20:05:00', 'overnight'],
  ])('at %s is %s', (time, status) => {
    expect(at(`2026-03-03T${time}${EST}`).status).toBe(status);
  });
});

describe('the week', () => {
  it.each([
    ['Friday evening closes it', `2026-03-06T19:59:00${EST}`, 'offhours'],
    ['Saturday', `2026-03-07T12:00:00${EST}`, 'offhours'],
    ['Sunday before the night session', `2026-03-15T20:04:59${EDT}`, 'offhours'],
    ['Sunday night opens it', `2026-03-15T20:05:00${EDT}`, 'overnight'],
  ])('%s', (_moment, time, status) => {
    expect(at(time).status).toBe(status);
  });

  it('reports the next opening at the right hour after a daylight saving change', () => {
    const saturday = at(`2026-03-07T12:00:00${EST}`);
    expect(new Date(saturday.next.start).toISOString()).toBe('2026-03-09T00:05:00.000Z');
    expect(saturday.next.name).toBe('overnight');
    const autumn = at(`2026-10-31T12:00:00${EDT}`);
    expect(new Date(autumn.next.start).toISOString()).toBe('2026-11-02T01:05:00.000Z');
    expect(autumn.offhours).toEqual({
      isOpen: true,
      nextOpen: Date.parse(`2026-10-30T19:59:00${EDT}`),
      nextClose: Date.parse('2026-11-02T01:05:00.000Z'),
    });
  });

  it('opens the regular session at 09:31 New York time, summer and winter', () => {
    expect(at('2026-03-06T14:31:00Z').status).toBe('regular');
    expect(at('2026-03-09T13:31:00Z').status).toBe('regular');
    expect(at('2026-03-09T13:30:00Z').status).toBe('paused');
    expect(at('2026-11-02T14:31:00Z').status).toBe('regular');
    expect(at('2026-10-30T13:31:00Z').status).toBe('regular');
  });
});

describe('holidays', () => {
  it.each([
    ...['2026-01-01', '2026-01-19', '2026-02-16', '2026-04-03', '2026-05-25', '2026-06-19', '2026-07-03'],
    ...['2026-09-07', '2026-11-26', '2026-12-25', '2027-12-24', '2023-01-02', '2024-03-29', '2027-07-05'],
  ])('%s has no conventional session', (date) => {
    const [year = 0, month = 0, day = 0] = date.split('-').map(Number);
    expect(isTradingDay(dayOf(year, month, day))).toBe(false);
    expect(at(`${date}T12:00:00${EST}`).status).toBe('offhours');
  });

  it('the last day of the year is a trading day when New Year falls on a Saturday', () => {
    expect(isTradingDay(dayOf(2021, 12, 31))).toBe(true);
  });

  it('there is no overnight session into a holiday, but there is one out of it', () => {
    expect(at(`2026-11-25T21:00:00${EST}`).status).toBe('offhours');
    expect(at(`2026-11-26T21:00:00${EST}`).status).toBe('overnight');
  });
});

describe('early closes', () => {
  it.each([
    ['12:58:59', 'regular'],
    ['12:59:00', 'paused'],
    ['13:01:00', 'postmarket'],
    ['16:58:59', 'postmarket'],
    ['16:59:00', 'offhours'],
  ])('the day after Thanksgiving at %s is %s', (time, status) => {
    expect(at(`2026-11-27T${time}${EST}`).status).toBe(status);
  });
});

it('the calendar covers every moment, and its next session starts within five days', () => {
  const moment = fc.integer({ min: Date.parse('2020-01-01'), max: Date.parse('2060-01-01') });
  fc.assert(
    fc.property(moment, (now) => {
      const { next, since, nextClose, offhours } = calendar(now);
      expect(since <= now && now < next.start).toBe(true);
      expect(nextClose === null || nextClose > now).toBe(true);
      expect(next.start - now).toBeLessThan(5 * 86_400_000);
      expect(offhours.nextClose > now && offhours.nextOpen < offhours.nextClose).toBe(true);
    }),
    { numRuns: 300 },
  );
});
