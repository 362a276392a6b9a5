import { closesEarly, type Day, isTradingDay } from './holidays.ts';

export type ConventionalSession = 'premarket' | 'regular' | 'postmarket' | 'overnight';
export type Session = ConventionalSession | 'offhours';
export type MarketStatus = Session | 'paused' | 'closed';

/** A half-open interval [start, end), in milliseconds since the epoch. */
type Interval<Name> = { name: Name; start: number; end: number };

/** The market at one moment. */
export type CalendarMoment = {
  status: MarketStatus;
  /** When `status` began. */
  since: number;
  /** The next session other than `offhours`. */
  next: Interval<ConventionalSession>;
  nextClose: number | null;
  offhours: { isOpen: boolean; nextOpen: number; nextClose: number };
};

export type Calendar = (now: number) => CalendarMoment;

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
/** The longest gap between two sessions that counts as a pause. A longer gap is a weekend or a holiday. */
const MAX_PAUSE_MS = 10 * MINUTE_MS;
const DAYS_BACK = 5;
/**
 * How many days ahead to compute sessions. The longest lookahead starts at the beginning of a week and ends after the
 * next weekend, if that weekend is extended by holidays on both sides.
 */
const DAYS_AHEAD = 12;
const MAX_CACHED_DAYS = 1000;

const timeOfDay = (hours: number, minutes: number) => (hours * 60 + minutes) * MINUTE_MS;

/** Creates the market calendar in New York time, with holidays, early closes and daylight saving time. */
export function createCalendar(): Calendar {
  const days = new Map<Day, Interval<ConventionalSession>[]>();
  const sessionsOf = (day: Day) => {
    const cached = days.get(day);
    if (cached !== undefined) return cached;
    const sessions = isTradingDay(day) ? tradingSessions(day) : [];
    if (days.size > MAX_CACHED_DAYS) days.clear();
    days.set(day, sessions);
    return sessions;
  };
  return (now) => {
    const today = Math.floor((now + offsetAt(now)) / DAY_MS);
    const nearby: Interval<ConventionalSession>[] = [];
    for (let day = today - DAYS_BACK; day <= today + DAYS_AHEAD; day++) nearby.push(...sessionsOf(day));
    return findMoment(nearby, now);
  };
}

function tradingSessions(day: Day): Interval<ConventionalSession>[] {
  const close = closesEarly(day) ? 13 : 16;
  const lastHour = closesEarly(day) ? 16 : 19;
  const interval = (name: ConventionalSession, start: number, end: number, from = day) => ({
    name,
    start: instantAt(from, start),
    end: instantAt(day, end),
  });
  return [
    interval('overnight', timeOfDay(20, 5), timeOfDay(3, 55), day - 1),
    interval('premarket', timeOfDay(4, 1), timeOfDay(9, 29)),
    interval('regular', timeOfDay(9, 31), timeOfDay(close - 1, 59)),
    interval('postmarket', timeOfDay(close, 1), timeOfDay(lastHour, 59)),
  ];
}

function findMoment(sessions: Interval<ConventionalSession>[], now: number): CalendarMoment {
  const index = sessions.findIndex(({ end }) => now < end);
  const current = sessions[index];
  const previous = sessions[index - 1];
  if (current === undefined || previous === undefined) throw new Error('the calendar covers too few days');
  const offhours = findOffhours(sessions, now);
  if (now >= current.start) {
    const next = sessions[index + 1];
    if (next === undefined) throw new Error('the calendar covers too few days');
    return { status: current.name, since: current.start, next, nextClose: current.end, offhours };
  }
  const status = current.start - previous.end > MAX_PAUSE_MS ? 'offhours' : 'paused';
  return { status, since: previous.end, next: current, nextClose: null, offhours };
}

function findOffhours(sessions: Interval<ConventionalSession>[], now: number): CalendarMoment['offhours'] {
  for (const [index, { start }] of sessions.entries()) {
    const open = sessions[index - 1]?.end ?? start;
    if (start - open > MAX_PAUSE_MS && start > now)
      return { isOpen: now >= open, nextOpen: open, nextClose: start };
  }
  throw new Error('the calendar covers too few days');
}

const NEW_YORK = new Intl.DateTimeFormat('en-US', {
  timeZone: 'America/New_York',
  hourCycle: 'h23',
  year: 'numeric',
  month: 'numeric',
  day: 'numeric',
  hour: 'numeric',
  minute: 'numeric',
  second: 'numeric',
});

/** Returns New York's offset from UTC in milliseconds. */
function offsetAt(now: number): number {
  const second = Math.floor(now / 1000) * 1000;
  const parts = Object.fromEntries(
    NEW_YORK.formatToParts(second).map(({ type, value }) => [type, Number(value)]),
  );
  const { year = 0, month = 0, day = 0, hour = 0, minute = 0 } = parts;
  return Date.UTC(year, month - 1, day, hour, minute, parts.second) - second;
}

/**
 * Converts a wall-clock time in New York to milliseconds since the epoch. Does not handle the hour that daylight saving
 * time skips or repeats, because no session starts or ends in that hour.
 */
function instantAt(day: Day, timeMs: number): number {
  const wall = day * DAY_MS + timeMs;
  return wall - offsetAt(wall - offsetAt(wall));
}
