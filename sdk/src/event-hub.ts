import type { Causeway } from './client.ts';
import { isCausewayError } from './error.ts';
import { isPageVisible, onPageActivity } from './page-visibility.ts';
import type { Event } from './wire.ts';

type Listener = (event: Event) => void;

/**
 * Shares one event stream among all hooks and flows: browsers limit connections, and the service allows 10 streams per
 * user.
 */
export type EventHub = {
  /**
   * Calls `listener` for each event while the page is visible. When a hidden page becomes visible again, `listener`
   * gets the events that it missed, but only if the stream delivered at least one event before the page was hidden.
   */
  subscribe(listener: Listener): () => void;
  /** Whether events arrive as they happen. */
  isLive(): boolean;
  /** Calls `notify` when `isLive` changes. */
  onLiveChange(notify: () => void): () => void;
};

export function createEventHub(client: Causeway): EventHub {
  const listeners = new Set<Listener>();
  const watchers = new Set<() => void>();
  let live = false;
  let last: string | undefined;
  let running: AbortController | undefined;
  let stopWatchingPage: (() => void) | undefined;

  const setLive = (next: boolean) => {
    if (live === next) return;
    live = next;
    for (const notify of watchers) notify();
  };
  const run = async (signal: AbortSignal): Promise<void> => {
    try {
      const onCaughtUp = () => setLive(true);
      for await (const event of client.events.stream({ after: last, signal, onCaughtUp })) {
        last = event.id;
        for (const listener of [...listeners]) listener(event);
      }
    } catch (error) {
      if (signal.aborted) return;
      stop();
      // After `events_expired`, the stream restarts with new events only. After any other error, such as a missing
      // sign-in or scope, the hooks rely on polling until page activity or a new subscriber restarts the stream.
      if (!isCausewayError(error, 'events_expired') || last === undefined) return;
      last = undefined;
      start();
    }
  };
  const start = () => {
    if (running !== undefined || listeners.size === 0 || !isPageVisible()) return;
    running = new AbortController();
    void run(running.signal);
  };
  const stop = () => {
    running?.abort();
    running = undefined;
    setLive(false);
  };
  const followPage = () => (isPageVisible() ? start() : stop());

  return {
    isLive: () => live,
    onLiveChange: (notify) => {
      watchers.add(notify);
      return () => void watchers.delete(notify);
    },
    subscribe: (listener) => {
      listeners.add(listener);
      stopWatchingPage ??= onPageActivity(followPage);
      start();
      return () => {
        listeners.delete(listener);
        // Does not stop the stream immediately, because hooks may resubscribe right away: in React's strict mode, or
        // when components move.
        setTimeout(() => {
          if (listeners.size > 0) return;
          stopWatchingPage?.();
          stopWatchingPage = undefined;
          last = undefined;
          stop();
        });
      };
    },
  };
}
