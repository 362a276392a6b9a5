/**
 * The application clock, which tests and the sandbox can move. Token lifetimes use the database's clock instead, and
 * rate limits use real time.
 */
export type Clock = {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Microseconds since the epoch; strictly increasing within a process, so that rows sort in insertion order. */
  micros(): number;
  /**
   * Returns the current time for calculating when participations expire, or null to use the database's clock. All
   * nodes share the database's clock, so nothing expires early if one node's clock jumps.
   */
  lifetime(): string | null;
};

export type TestClock = Clock & { advance(seconds: number): void; set(milliseconds: number): void };

/** Real time in milliseconds since the epoch, independent of the application clock. */
export function realTime(): number {
  return Date.now();
}

/** How far `preciseTime` may drift from the system clock before `preciseTime` is corrected. */
const MAX_DRIFT_MS = 5;

export function realClock(): Clock {
  return { now: realTime, micros: strictlyIncreasing(preciseTime()), lifetime: () => null };
}

/**
 * Returns a function that returns the system time in milliseconds, with microsecond precision. `Date` has only whole
 * milliseconds, so the fraction comes from the monotonic clock.
 */
function preciseTime(): () => number {
  let offset = realTime() - performance.now();
  return () => {
    const [system, monotonic] = [realTime(), performance.now()];
    if (Math.abs(monotonic + offset - system) > MAX_DRIFT_MS) offset = system - monotonic;
    return monotonic + offset;
  };
}

/** Real time in microseconds since the epoch, independent of the application clock. */
export const realMicros = strictlyIncreasing(preciseTime());

/** Returns a clock that stands still until it is moved. */
export function testClock(start: number): TestClock {
  let now = start;
  let micros = strictlyIncreasing(() => now);
  return {
    now: () => now,
    micros: () => micros(),
    lifetime: () => new Date(now).toISOString(),
    advance: (seconds) => {
      now += seconds * 1000;
    },
    set: (milliseconds) => {
      now = milliseconds;
      // The clock may have moved back, so `micros` must restart from the new time.
      micros = strictlyIncreasing(() => now);
    },
  };
}

function strictlyIncreasing(now: () => number): () => number {
  let last = 0;
  return () => {
    last = Math.max(last + 1, Math.floor(now() * 1000));
    return last;
  };
}
