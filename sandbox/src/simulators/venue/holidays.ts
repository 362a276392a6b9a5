/** A day in New York's calendar, as the number of days since the epoch. */
export type Day = number;

const DAY_MS = 86_400_000;
const SUNDAY = 0;
const MONDAY = 1;
const THURSDAY = 4;
const SATURDAY = 6;

export function dayOf(year: number, month: number, date: number): Day {
  return Date.UTC(year, month - 1, date) / DAY_MS;
}

export function weekday(day: Day): number {
  return (day + 4) % 7;
}

function yearOf(day: Day): number {
  return new Date(day * DAY_MS).getUTCFullYear();
}

/** Returns the nth occurrence of a weekday in a month. If `n` is -1, returns the last one. */
function nthWeekday(year: number, month: number, wanted: number, n: number): Day {
  if (n < 0) {
    const last = dayOf(year, month + 1, 0);
    return last - ((weekday(last) - wanted + 7) % 7);
  }
  const first = dayOf(year, month, 1);
  return first + ((wanted - weekday(first) + 7) % 7) + (n - 1) * 7;
}

/** Returns Easter Sunday, computed with the anonymous Gregorian algorithm. */
function easter(year: number): Day {
  const a = year % 19;
  const b = Math.floor(year / 100);
  const c = year % 100;
  const d = (19 * a + b - Math.floor(b / 4) - Math.floor((b - Math.floor((b + 8) / 25) + 1) / 3) + 15) % 30;
  const e = (32 + 2 * (b % 4) + 2 * Math.floor(c / 4) - d - (c % 4)) % 7;
  const f = d + e - 7 * Math.floor((a + 11 * d + 22 * e) / 451) + 114;
  return dayOf(year, Math.floor(f / 31), (f % 31) + 1);
}

/** Returns the day on which a holiday is observed: Friday instead of Saturday, and Monday instead of Sunday. */
function observed(day: Day): Day {
  if (weekday(day) === SATURDAY) return day - 1;
  return weekday(day) === SUNDAY ? day + 1 : day;
}

function holidays(year: number): Day[] {
  const newYear = dayOf(year, 1, 1);
  return [
    // Exception: if New Year's Day is a Saturday, the exchange stays open on the Friday before.
    weekday(newYear) === SATURDAY ? newYear : observed(newYear),
    nthWeekday(year, 1, MONDAY, 3),
    nthWeekday(year, 2, MONDAY, 3),
    easter(year) - 2,
    nthWeekday(year, 5, MONDAY, -1),
    observed(dayOf(year, 6, 19)),
    observed(dayOf(year, 7, 4)),
    nthWeekday(year, 9, MONDAY, 1),
    nthWeekday(year, 11, THURSDAY, 4),
    observed(dayOf(year, 12, 25)),
  ];
}

export function isTradingDay(day: Day): boolean {
  const isWeekend = weekday(day) === SUNDAY || weekday(day) === SATURDAY;
  return !isWeekend && !holidays(yearOf(day)).includes(day);
}

/**
 * Checks whether the exchange closes early, at 13:00. It does so on the day after Thanksgiving, and on July 3 and
 * December 24 if they are trading days.
 */
export function closesEarly(day: Day): boolean {
  const year = yearOf(day);
  const eves = [dayOf(year, 7, 3), dayOf(year, 12, 24)];
  if (day === nthWeekday(year, 11, THURSDAY, 4) + 1) return true;
  return eves.includes(day) && isTradingDay(day);
}
