const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** The delay after each failed attempt. Without jitter, the last of the 11 attempts is 23 h 42 min after the first. */
const DELAYS_MS = [
  5 * SECOND_MS,
  30 * SECOND_MS,
  2 * MINUTE_MS,
  10 * MINUTE_MS,
  30 * MINUTE_MS,
  HOUR_MS,
  2 * HOUR_MS,
  4 * HOUR_MS,
  8 * HOUR_MS,
  8 * HOUR_MS,
];
const JITTER = 0.2;

/**
 * Returns the delay after attempt number `attempt` (counting from 1), or null if that was the last attempt. `random` is
 * between 0 and 1. `Retry-After` can at most double the delay and never shortens it.
 */
export function retryDelayMs(
  attempt: number,
  random: number,
  retryAfterSeconds: number | null,
): number | null {
  const base = DELAYS_MS[attempt - 1];
  if (base === undefined) return null;
  const delay = base * (1 - JITTER + 2 * JITTER * random);
  const requested = (retryAfterSeconds ?? 0) * SECOND_MS;
  return Math.round(Math.min(Math.max(requested, delay), 2 * delay));
}
