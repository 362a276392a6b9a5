/** The application clock, which tests and the sandbox can move. Token lifetimes and rate limits use real time instead. */
export type Clock = {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Microseconds since the epoch; strictly increasing within a process, so that rows sort in insertion order. */
  micros(): number;
};

export type TestClock = Clock & { advance(seconds: number): void; set(milliseconds: number): void };

/** Real time in milliseconds since the epoch, independent of the application clock. */
export function realTime(): number {
  return Date.now();
}

export function realClock(): Clock {
  return strictlyIncreasing(realTime);
}

/** Returns a clock that stands still until it is moved. */
export function testClock(start: number): TestClock {
  let now = start;
  let clock = strictlyIncreasing(() => now);
  return {
    now: () => now,
    micros: () => clock.micros(),
    advance: (seconds) => {
      now += seconds * 1000;
    },
    set: (milliseconds) => {
      now = milliseconds;
      // After moving back, microseconds must restart from the new time.
      clock = strictlyIncreasing(() => now);
    },
  };
}

function strictlyIncreasing(now: () => number): Clock {
  let last = 0;
  return {
    now,
    micros: () => {
      last = Math.max(last + 1, Math.floor(now() * 1000));
      return last;
    },
  };
}
