/** Time as the rules of the service see it. Lifetimes of tokens and rate limits use real time instead. */
export type Clock = {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Microseconds since the epoch; strictly increasing within a process, so that rows keep their order. */
  micros(): number;
};

export type TestClock = Clock & { advance(seconds: number): void; set(milliseconds: number): void };

/** Milliseconds since the epoch, whatever clock the rules run by. */
export function realTime(): number {
  return Date.now();
}

export function realClock(): Clock {
  return strictlyIncreasing(realTime);
}

/** Stands still until it is moved. */
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
      // Set back, it must not go on from where it was.
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
