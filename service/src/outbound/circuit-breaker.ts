/** Whether an upstream may be asked now. Silence closes the way for a while; the first request after that is a probe. */
export type CircuitBreaker = {
  /** Milliseconds until it is worth asking again; 0 = go ahead. The one who gets 0 after a pause is the probe. */
  wait(): number;
  succeed(): void;
  /** It was silent. */
  fail(): void;
  /** It asked to be left alone for so long. */
  pause(milliseconds: number): void;
};

const FAILURES_TO_OPEN = 5;
const FIRST_PAUSE = 250;
const LONGEST_PAUSE = 2_000;
/** A probe that never came back must not keep the way closed. */
const LONGEST_PROBE = 30_000;

/** `now` is monotonic real time, whatever clock the rules run by. */
export function createCircuitBreaker(now: () => number = () => performance.now()): CircuitBreaker {
  let failures = 0;
  let pause = FIRST_PAUSE;
  let closedUntil = 0;
  let probingUntil = 0;
  return {
    wait: () => {
      if (closedUntil === 0) return 0;
      const time = now();
      const left = Math.max(closedUntil, probingUntil) - time;
      if (left > 0) return left;
      probingUntil = time + LONGEST_PROBE;
      return 0;
    },
    succeed: () => {
      failures = 0;
      pause = FIRST_PAUSE;
      closedUntil = 0;
      probingUntil = 0;
    },
    fail: () => {
      failures += 1;
      probingUntil = 0;
      if (failures < FAILURES_TO_OPEN) return;
      closedUntil = now() + pause;
      pause = Math.min(pause * 2, LONGEST_PAUSE);
    },
    pause: (milliseconds) => {
      probingUntil = 0;
      closedUntil = now() + Math.min(Math.max(milliseconds, FIRST_PAUSE), 60_000);
    },
  };
}
