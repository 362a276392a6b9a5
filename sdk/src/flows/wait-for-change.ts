import { createEventHub } from '../event-hub.ts';
import { sleep } from '../sleep.ts';
import type { Event } from '../wire.ts';
import type { WalletSession } from './session.ts';

/** While events arrive, polling is only a fallback, so the poll interval is multiplied by this factor. */
const LIVE_INTERVAL_FACTOR = 15;

type Change = {
  /** The group of events that trigger a check. For example, `participation` stands for all `participation.*` events. */
  events: string;
  timeoutMs: number;
};

/**
 * Waits until `holds` returns true. After `timeoutMs`, gives up and returns false. Calls `holds` whenever one of the
 * `events` arrives on the host's event stream or, if the host has no stream, on a new stream. Also polls `holds`,
 * because the stream may never be live, for example if the token lacks `events:read`. Polls less often while the stream
 * is live.
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
  // Checks again at once if the stream was already live: it may have reported the change during the first check.
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

/**
 * Returns whether the event may be in the group. The type of a redacted event is unknown, so such an event may be in
 * any group.
 */
function isOneOf(events: string, type: string): boolean {
  return type.startsWith(`${events}.`) || type === 'redacted';
}

function anyOf(signal: AbortSignal | undefined, other: AbortSignal): AbortSignal {
  return signal === undefined ? other : AbortSignal.any([signal, other]);
}
