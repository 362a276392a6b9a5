import type { Causeway } from '../../client.ts';
import { CausewayError, isCausewayError } from '../../error.ts';
import { isPageVisible, onPageActivity } from '../../page-visibility.ts';
import type { Preloaded } from '../../preload.ts';
import type { Query } from '../../queries.ts';
import { isCovered } from './live-queries.ts';

/** The state of a query; every change produces a new object. */
export type QueryState<Data> = {
  readonly data: Data | undefined;
  readonly error: CausewayError | undefined;
  readonly isLoading: boolean;
};

type Subscriber = { notify: () => void; pollIntervalMs: number | undefined };
type Entry = {
  state: QueryState<unknown>;
  /** When data last arrived or a request last failed. 0 if neither has happened, or if the data was invalidated. */
  settledAt: number;
  query: Query<unknown> | undefined;
  subscribers: Set<Subscriber>;
  request: { promise: Promise<void>; controller: AbortController } | undefined;
  timer: ReturnType<typeof setTimeout> | undefined;
};

export type QueryCache = {
  getState(key: string): QueryState<unknown>;
  /** Returns the state for the first render, which must match what the server rendered. */
  getInitialState(key: string): QueryState<unknown>;
  /** Loads missing or stale data, and then polls at the interval. Stops when the last subscriber leaves. */
  subscribe(query: Query<unknown>, pollIntervalMs: number | undefined, notify: () => void): () => void;
  refresh(query: Query<unknown>): Promise<void>;
  /** Reloads the matching queries: immediately if they have subscribers, otherwise on their next use. */
  invalidate(matches: (key: string) => boolean): void;
  /**
   * Sets whether the event stream is live. While the stream is live, a query is polled less often if events report
   * every change to the query's result.
   */
  setLive(isLive: boolean): void;
  /** Adds results that the server has loaded. Skips queries that already have data. */
  seed(preloaded: Preloaded): void;
  /**
   * Refetches stale queries when the page regains focus or visibility. Returns a function that stops this.
   */
  refetchOnFocus(): () => void;
};

export const IDLE: QueryState<never> = { data: undefined, error: undefined, isLoading: false };
export const LOADING: QueryState<never> = { data: undefined, error: undefined, isLoading: true };
/** Data younger than this is not reloaded when a component mounts or the window regains focus. */
export const STALE_AFTER_MS = 5_000;
/** The minimum poll interval while the event stream is live, for queries that get an event for every change. */
const LIVE_POLL_INTERVAL_MS = 30_000;
const MAX_ENTRIES = 200;

export function createQueryCache(client: Causeway, preloaded: Preloaded = {}): QueryCache {
  const entries = new Map<string, Entry>();
  let isLive = false;
  const initialStates = new Map<string, QueryState<unknown>>();
  const getInitialState = (key: string) => initialStates.get(key) ?? LOADING;

  const entryOf = (key: string): Entry => {
    const existing = entries.get(key);
    if (existing !== undefined) return existing;
    const state = getInitialState(key);
    const entry: Entry = {
      state,
      settledAt: state === LOADING ? 0 : Date.now(),
      query: undefined,
      subscribers: new Set(),
      request: undefined,
      timer: undefined,
    };
    entries.set(key, entry);
    evictUnused(entries);
    return entry;
  };

  const setState = (entry: Entry, state: QueryState<unknown>) => {
    entry.state = state;
    for (const { notify } of entry.subscribers) notify();
  };

  const seed = (results: Preloaded) => {
    for (const [key, data] of Object.entries(results)) {
      if (initialStates.has(key)) continue;
      const state = { data, error: undefined, isLoading: false };
      initialStates.set(key, state);
      const entry = entries.get(key);
      if (entry === undefined || entry.state.data !== undefined) continue;
      entry.settledAt = Date.now();
      entry.state = state;
      // Notifies subscribers after the render. Components call `seed` while they render, and React does not allow
      // updates to other components at that time.
      queueMicrotask(() => setState(entry, entry.state));
    }
  };
  seed(preloaded);

  const load = (entry: Entry, query: Query<unknown>): Promise<void> => {
    if (entry.request !== undefined) return entry.request.promise;
    clearTimeout(entry.timer);
    const controller = new AbortController();
    const { signal } = controller;
    const settle = (data: unknown, error: CausewayError | undefined) => {
      if (signal.aborted) return;
      entry.request = undefined;
      entry.settledAt = Date.now();
      setState(entry, { data, error, isLoading: false });
      schedulePoll(entry);
    };
    const promise = Promise.resolve()
      .then(() => query.load(client, signal))
      .then(
        (data) => settle(data, undefined),
        (error) => settle(entry.state.data, toCausewayError(error)),
      );
    entry.request = { promise, controller };
    if (entry.state.data === undefined && !entry.state.isLoading)
      setState(entry, { ...entry.state, isLoading: true });
    return promise;
  };

  /** Schedules no poll while the page is hidden; `refetchOnFocus` resumes polling. */
  const schedulePoll = (entry: Entry) => {
    clearTimeout(entry.timer);
    const wantedMs = pollIntervalOf(entry);
    const { query } = entry;
    if (wantedMs === undefined || query === undefined || !isPageVisible()) return;
    const intervalMs = isLive ? liveIntervalMs(query.key, wantedMs) : wantedMs;
    const delayMs = Math.max(0, entry.settledAt + intervalMs - Date.now());
    entry.timer = setTimeout(() => void load(entry, query), delayMs);
  };

  const abortRequest = (entry: Entry) => {
    entry.request?.controller.abort();
    entry.request = undefined;
  };

  const stopIfUnused = (entry: Entry) => {
    if (entry.subscribers.size > 0) return;
    clearTimeout(entry.timer);
    abortRequest(entry);
  };

  return {
    getState: (key) => entryOf(key).state,
    getInitialState,
    subscribe: (query, pollIntervalMs, notify) => {
      const entry = entryOf(query.key);
      const subscriber: Subscriber = { notify, pollIntervalMs };
      entry.subscribers.add(subscriber);
      entry.query = query;
      if (isStale(entry)) void load(entry, query);
      else schedulePoll(entry);
      return () => {
        entry.subscribers.delete(subscriber);
        // Delays the check for other subscribers. In strict mode, or when a component moves, a hook unsubscribes and
        // immediately subscribes again. Without the delay, the hook's request would be aborted.
        setTimeout(() => stopIfUnused(entry));
      };
    },
    refresh: async (query) => {
      const entry = entryOf(query.key);
      // If a request is running, waits for it before reloading, because that request may have read the old
      // data.
      await entry.request?.promise;
      await load(entry, query);
    },
    invalidate: (matches) => {
      for (const [key, entry] of entries) {
        if (!matches(key)) continue;
        abortRequest(entry);
        entry.settledAt = 0;
        if (entry.subscribers.size > 0 && entry.query !== undefined) void load(entry, entry.query);
      }
    },
    setLive: (next) => {
      isLive = next;
      for (const entry of entries.values()) if (entry.request === undefined) schedulePoll(entry);
    },
    seed,
    refetchOnFocus: () =>
      onPageActivity(() => {
        for (const entry of entries.values()) {
          if (!isPageVisible()) clearTimeout(entry.timer);
          else if (entry.subscribers.size > 0 && entry.query !== undefined && isStale(entry))
            void load(entry, entry.query);
          else if (entry.request === undefined) schedulePoll(entry);
        }
      }),
  };
}

function isStale({ settledAt }: Entry): boolean {
  return Date.now() - settledAt >= STALE_AFTER_MS;
}

/**
 * Returns the poll interval to use while the event stream is live. If events report every change to the query's result,
 * the interval is at least `LIVE_POLL_INTERVAL_MS`.
 */
export function liveIntervalMs(key: string, wantedMs: number): number {
  return isCovered(key) ? Math.max(wantedMs, LIVE_POLL_INTERVAL_MS) : wantedMs;
}

/** Returns the shortest interval any subscriber wants, or the service's `Retry-After` if that is longer. */
function pollIntervalOf({ subscribers, state }: Entry): number | undefined {
  const intervals = [...subscribers].flatMap(({ pollIntervalMs }) => pollIntervalMs ?? []);
  if (intervals.length === 0) return undefined;
  return Math.max(Math.min(...intervals), (state.error?.retryAfter ?? 0) * 1000);
}

/**
 * Drops unused entries, oldest first, so that the cache does not grow without limit: each amount that a user types adds
 * an entry for its quote.
 */
function evictUnused(entries: Map<string, Entry>): void {
  for (const [key, { subscribers, request }] of entries) {
    if (entries.size <= MAX_ENTRIES) return;
    if (subscribers.size === 0 && request === undefined) entries.delete(key);
  }
}

export function toCausewayError(error: unknown): CausewayError {
  if (isCausewayError(error)) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new CausewayError({ code: 'network_error', status: 0, message, cause: error });
}
