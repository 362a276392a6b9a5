import { setTimeout as sleep } from 'node:timers/promises';

/**
 * The time from the signal until the service gives up waiting for its parts and stops child processes forcibly. This
 * limit lets the process exit within 5 s even if finishing the open requests (`platform/http/drain.ts`) takes the maximum
 * time.
 */
const FORCE_STOP_MS = 4_400;

/**
 * Functions that stop the parts of the service, in the order in which the parts were started. After `forceAfterMs`, the
 * functions stop the parts' child processes forcibly.
 */
export type Started = ((forceAfterMs: number) => Promise<unknown>)[];

/** Stops all parts, the last one first. */
export async function stopAll(started: Started): Promise<void> {
  const forceAt = performance.now() + FORCE_STOP_MS;
  for (const stop of started.reverse()) await stopTogether([stop], Math.max(0, forceAt - performance.now()));
}

/**
 * Makes `stop` wait for `forceAfterMs` at most. A worker may be waiting for an RPC node or a statement that hangs.
 * Another node, or the next start, takes over the worker's work, as after a crash.
 */
export function leaveUnfinished(stop: Started[number]): Started[number] {
  return (forceAfterMs) => Promise.race([stop(forceAfterMs), sleep(forceAfterMs, undefined, { ref: false })]);
}

/** Stops all parts at the same time. If a part fails to stop, logs the error and still stops the other parts. */
export async function stopTogether(parts: Started, forceAfterMs: number): Promise<void> {
  await Promise.all(parts.map((stop) => stop(forceAfterMs).catch((error: unknown) => console.error(error))));
}
