import type { Causeway } from '../../client.ts';
import type { CausewayError } from '../../error.ts';
import type { Preloaded } from '../../preload.ts';
import type { Query } from '../../queries.ts';
import { toCausewayError } from '../ui/errors.ts';
import { isVisible, onAttention } from './visibility.ts';

/** What is known of an answer; a new object with every change. */
export type State<Data> = {
  readonly data: Data | undefined;
  readonly error: CausewayError | undefined;
  readonly isLoading: boolean;
};

type Watcher = { tell: () => void; every: number | undefined };
type Entry = {
  state: State<unknown>;
  /** When the last answer came, failed or not; 0 for never. */
  at: number;
  ask: Query<unknown> | undefined;
  watchers: Set<Watcher>;
  running: { promise: Promise<void>; controller: AbortController } | undefined;
  timer: ReturnType<typeof setTimeout> | undefined;
};

export type Cache = {
  peek(key: string): State<unknown>;
  /** As the page began, which is what the server rendered. */
  peekInitial(key: string): State<unknown>;
  /** Loads what is missing or old, and again at a pace; the last to leave stops it. */
  watch(ask: Query<unknown>, every: number | undefined, tell: () => void): () => void;
  refresh(ask: Query<unknown>): Promise<void>;
  /** What is on screen is asked again at once, the rest when it is needed. */
  invalidate(concerns: (key: string) => boolean): void;
  /** Begins to follow the window's focus and visibility; gives the way to stop. */
  attend(): () => void;
};

export const IDLE: State<never> = { data: undefined, error: undefined, isLoading: false };
export const UNKNOWN: State<never> = { data: undefined, error: undefined, isLoading: true };
/** Younger answers are not asked for again when something appears or the window gets the focus. */
const FRESH = 5_000;
const MAX_ENTRIES = 200;

export function createCache(client: Causeway, initial: Preloaded = {}): Cache {
  const entries = new Map<string, Entry>();
  const began = Object.fromEntries(
    Object.entries(initial).map(([key, data]) => [key, { data, error: undefined, isLoading: false }]),
  ) as Record<string, State<unknown>>;

  const entryOf = (key: string): Entry => {
    const known = entries.get(key);
    if (known !== undefined) return known;
    const state = Object.hasOwn(began, key) ? (began[key] ?? UNKNOWN) : UNKNOWN;
    const at = state === UNKNOWN ? 0 : Date.now();
    const entry: Entry = {
      state,
      at,
      ask: undefined,
      watchers: new Set(),
      running: undefined,
      timer: undefined,
    };
    entries.set(key, entry);
    forget(entries);
    return entry;
  };

  const set = (entry: Entry, state: State<unknown>) => {
    entry.state = state;
    for (const { tell } of entry.watchers) tell();
  };

  const load = (entry: Entry, ask: Query<unknown>): Promise<void> => {
    if (entry.running !== undefined) return entry.running.promise;
    clearTimeout(entry.timer);
    const controller = new AbortController();
    const { signal } = controller;
    const settle = (data: unknown, error: CausewayError | undefined) => {
      if (signal.aborted) return;
      entry.running = undefined;
      entry.at = Date.now();
      set(entry, { data, error, isLoading: false });
      schedule(entry);
    };
    const promise = Promise.resolve()
      .then(() => ask.load(client, signal))
      .then(
        (data) => settle(data, undefined),
        (error) => settle(entry.state.data, toCausewayError(error)),
      );
    entry.running = { promise, controller };
    if (entry.state.data === undefined && !entry.state.isLoading)
      set(entry, { ...entry.state, isLoading: true });
    return promise;
  };

  /** Not while nobody sees it: `attend` catches up. */
  const schedule = (entry: Entry) => {
    clearTimeout(entry.timer);
    const wait = paceOf(entry);
    const { ask } = entry;
    if (wait === undefined || ask === undefined || !isVisible()) return;
    entry.timer = setTimeout(() => void load(entry, ask), Math.max(0, entry.at + wait - Date.now()));
  };

  const leave = (entry: Entry) => {
    if (entry.watchers.size > 0) return;
    clearTimeout(entry.timer);
    entry.running?.controller.abort();
    entry.running = undefined;
  };

  return {
    peek: (key) => entryOf(key).state,
    peekInitial: (key) => (Object.hasOwn(began, key) ? (began[key] ?? UNKNOWN) : UNKNOWN),
    watch: (ask, every, tell) => {
      const entry = entryOf(ask.key);
      const watcher: Watcher = { tell, every };
      entry.watchers.add(watcher);
      entry.ask = ask;
      if (Date.now() - entry.at >= FRESH) void load(entry, ask);
      else schedule(entry);
      return () => {
        entry.watchers.delete(watcher);
        // Strict mode and a component that moves leave and come back at once; their request goes on.
        setTimeout(() => leave(entry));
      };
    },
    refresh: async (ask) => {
      const entry = entryOf(ask.key);
      // One that began before now may not know what has happened since.
      await entry.running?.promise;
      await load(entry, ask);
    },
    invalidate: (concerns) => {
      for (const [key, entry] of entries) {
        if (!concerns(key)) continue;
        entry.running?.controller.abort();
        entry.running = undefined;
        entry.at = 0;
        if (entry.watchers.size > 0 && entry.ask !== undefined) void load(entry, entry.ask);
      }
    },
    attend: () =>
      onAttention(() => {
        for (const entry of entries.values()) {
          if (!isVisible()) clearTimeout(entry.timer);
          else if (entry.watchers.size > 0 && entry.ask !== undefined && Date.now() - entry.at >= FRESH)
            void load(entry, entry.ask);
          else if (entry.running === undefined) schedule(entry);
        }
      }),
  };
}

/** The shortest that anyone asks for; longer when the service asks to wait. */
function paceOf({ watchers, state }: Entry): number | undefined {
  const wanted = [...watchers].flatMap(({ every }) => (every === undefined ? [] : [every]));
  if (wanted.length === 0) return undefined;
  return Math.max(Math.min(...wanted), (state.error?.retryAfter ?? 0) * 1000);
}

/** Quotes of every amount ever typed need not be kept. */
function forget(entries: Map<string, Entry>): void {
  for (const [key, { watchers, running }] of entries) {
    if (entries.size <= MAX_ENTRIES) return;
    if (watchers.size === 0 && running === undefined) entries.delete(key);
  }
}
