import { createEventHub } from '../event-hub.ts';
import { sleep } from '../sleep.ts';
import type { Event } from '../wire.ts';
import type { WalletSession } from './session.ts';

/** While events arrive, polling is only a fallback, so the poll interval is multiplied by this factor. */
const LIVE_INTERVAL_FACTOR = 15;

type Change = {
  /** The group of events that may end the wait: `participation` stands for all `participation.*`. */
  events: string;
  timeoutMs: number;
};

/**
 * Checks the condition until it holds, and returns false if it does not hold in time. An event triggers a check at
 * once. The condition is also polled: rarely while there is an event stream, more often without one, for example
 * because the token lacks `events:read`. Uses the host's stream, or opens its own for the duration of the wait.
 */
export async function waitForChange(
  session: WalletSession,
  { events, timeoutMs }: Change,
  holds: () => Promise<boolean>,
): Promise<boolean> {
  const startedAt = Date.now();
  if (await holds()) return true;
  const hub = session.events ?? createEventHub(session.causeway);
  let changed = new AbortController();
  const onChange = () => changed.abort();
  const stops = [
    hub.subscribe(({ type }: Event) => isOneOf(events, type) && onChange()),
    // Checks again when the stream goes live, because the stream reports only later changes.
    hub.onLiveChange(onChange),
  ];
  // The host's stream may have reported the change during the first check.
  if (hub.isLive()) onChange();
  try {
    for (;;) {
      const remainingMs = startedAt + timeoutMs - Date.now();
      if (remainingMs <= 0) return false;
      const intervalMs = session.pollIntervalMs * (hub.isLive() ? LIVE_INTERVAL_FACTOR : 1);
      await sleep(Math.min(intervalMs, remainingMs), anyOf(session.signal, changed.signal)).catch(() =>
        session.signal?.throwIfAborted(),
      );
      changed = new AbortController();
      if (await holds()) return true;
    }
  } finally {
    for (const stop of stops) stop();
  }
}

/** A redacted event may be about anything. */
function isOneOf(events: string, type: string): boolean {
  return type.startsWith(`${events}.`) || type === 'redacted';
}

function anyOf(signal: AbortSignal | undefined, other: AbortSignal): AbortSignal {
  return signal === undefined ? other : AbortSignal.any([signal, other]);
}
