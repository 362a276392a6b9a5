/**
 * Stops calls to an upstream that does not respond. Repeated failures open the circuit: for a while, no calls are made.
 * The first call after that is a probe, and all other calls must wait until the probe settles.
 */
export type CircuitBreaker = {
  /**
   * Milliseconds until a call may be made; 0 = now. A caller that gets 0 while the circuit is open makes the probe
   * call.
   */
  wait(): number;
  /** Returns whether the circuit is closed, that is, whether calls go through without waiting. */
  isClosed(): boolean;
  succeed(): void;
  /** Records that a call got no response. */
  fail(): void;
  /** Opens the circuit for the time that the upstream asked for, at most `maxPauseMs`. */
  pause(milliseconds: number): void;
};

export type CircuitBreakerOptions = {
  /** The number of consecutive failures that open the circuit. Default: 5. */
  failuresToOpen?: number;
  /** The longest time that `pause` keeps the circuit open. Default: 60,000. */
  maxPauseMs?: number;
  /** Returns monotonic real time in milliseconds, independent of the application clock. */
  now?: () => number;
};

const MIN_OPEN_MS = 250;
const MAX_OPEN_MS = 2_000;
/** How long other calls wait for a probe to settle. After this time, the next call may be a new probe. */
const PROBE_TIMEOUT_MS = 30_000;

export function createCircuitBreaker({
  failuresToOpen = 5,
  maxPauseMs = 60_000,
  now = () => performance.now(),
}: CircuitBreakerOptions = {}): CircuitBreaker {
  let failures = 0;
  let openMs = MIN_OPEN_MS;
  /** 0 = closed. */
  let openUntil = 0;
  let probeUntil = 0;
  return {
    wait: () => {
      if (openUntil === 0) return 0;
      const time = now();
      const remaining = Math.max(openUntil, probeUntil) - time;
      if (remaining > 0) return remaining;
      probeUntil = time + PROBE_TIMEOUT_MS;
      return 0;
    },
    isClosed: () => openUntil === 0,
    succeed: () => {
      failures = 0;
      openMs = MIN_OPEN_MS;
      openUntil = 0;
      probeUntil = 0;
    },
    fail: () => {
      failures += 1;
      probeUntil = 0;
      if (failures < failuresToOpen) return;
      openUntil = now() + openMs;
      openMs = Math.min(openMs * 2, MAX_OPEN_MS);
    },
    pause: (milliseconds) => {
      probeUntil = 0;
      openUntil = now() + Math.min(Math.max(milliseconds, MIN_OPEN_MS), maxPauseMs);
    },
  };
}
