import { closesEarly, type Day, isTradingDay } from './holidays.ts';

export type ConventionalSession = 'premarket' | 'regular' | 'postmarket' | 'overnight';
export type Session = ConventionalSession | 'offhours';
export type MarketStatus = Session | 'paused' | 'closed';

/** A stretch of time in milliseconds since the epoch; the end is not in it. */
type Stretch<Name> = { name: Name; start: number; end: number };

/** What the calendar says of a moment. */
export type CalendarMoment = {
  status: MarketStatus;
  /** When the stretch began that the moment is in. */
  since: number;
  /** Of the four conventional sessions. */
  next: Stretch<ConventionalSession>;
  nextClose: number | null;
  offhours: { isOpen: boolean; nextOpen: number; nextClose: number };
};

export type Calendar = (now: number) => CalendarMoment;

const DAY = 86_400_000;
const MINUTE = 60_000;
/** Gaps up to this are the pauses between sessions, longer ones weekends and holidays. */
const LONGEST_PAUSE = 10 * MINUTE;
/** Days: from the first evening of a week to beyond the weekend after it, holidays on both sides of it included. */
const AHEAD = 12;

const clockOf = (hours: number, minutes: number) => (hours * 60 + minutes) * MINUTE;

/** Sessions of the market by New York time, with its holidays, its early closes and daylight saving. */
export function createCalendar(): Calendar {
  const days = new Map<Day, Stretch<ConventionalSession>[]>();
  const sessionsOf = (day: Day) => {
    const known = days.get(day);
    if (known !== undefined) return known;
    const made = isTradingDay(day) ? tradingSessions(day) : [];
    if (days.size > 1000) days.clear();
    days.set(day, made);
    return made;
  };
  return (now) => {
    const today = Math.floor((now + offsetAt(now)) / DAY);
    const near: Stretch<ConventionalSession>[] = [];
    for (let day = today - 5; day <= today + AHEAD; day++) near.push(...sessionsOf(day));
    return momentIn(near, now);
  };
}

function tradingSessions(day: Day): Stretch<ConventionalSession>[] {
  const close = closesEarly(day) ? 13 : 16;
  const lastHour = closesEarly(day) ? 16 : 19;
  const stretch = (name: ConventionalSession, start: number, end: number, from = day) => ({
    name,
    start: instantAt(from, start),
    end: instantAt(day, end),
  });
  return [
    stretch('overnight', clockOf(20, 5), clockOf(3, 55), day - 1),
    stretch('premarket', clockOf(4, 1), clockOf(9, 29)),
    stretch('regular', clockOf(9, 31), clockOf(close - 1, 59)),
    stretch('postmarket', clockOf(close, 1), clockOf(lastHour, 59)),
  ];
}

function momentIn(sessions: Stretch<ConventionalSession>[], now: number): CalendarMoment {
  const index = sessions.findIndex(({ end }) => now < end);
  const at = sessions[index];
  const before = sessions[index - 1];
  if (at === undefined || before === undefined) throw new Error('the calendar is too short');
  const offhours = offhoursFrom(sessions, now);
  if (now >= at.start) {
    const next = sessions[index + 1];
    if (next === undefined) throw new Error('the calendar is too short');
    return { status: at.name, since: at.start, next, nextClose: at.end, offhours };
  }
  const status = at.start - before.end > LONGEST_PAUSE ? 'offhours' : 'paused';
  return { status, since: before.end, next: at, nextClose: null, offhours };
}

function offhoursFrom(sessions: Stretch<ConventionalSession>[], now: number): CalendarMoment['offhours'] {
  for (const [index, { start }] of sessions.entries()) {
    const open = sessions[index - 1]?.end ?? start;
    if (start - open > LONGEST_PAUSE && start > now)
      return { isOpen: now >= open, nextOpen: open, nextClose: start };
  }
  throw new Error('the calendar is too short');
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

/** What New York's clocks show, less UTC, at a moment. */
function offsetAt(now: number): number {
  const second = Math.floor(now / 1000) * 1000;
  const parts = Object.fromEntries(
    NEW_YORK.formatToParts(second).map(({ type, value }) => [type, Number(value)]),
  );
  const { year = 0, month = 0, day = 0, hour = 0, minute = 0 } = parts;
  return Date.UTC(year, month - 1, day, hour, minute, parts.second) - second;
}

/** The moment at which New York's clocks show this time. No session begins or ends in an hour that is lost or doubled. */
function instantAt(day: Day, time: number): number {
  const wall = day * DAY + time;
  return wall - offsetAt(wall - offsetAt(wall));
}
