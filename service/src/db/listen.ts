import { EventEmitter, once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ListenSession, openSession, type SessionOptions } from './listen-session.ts';

export interface Listener {
  /** Calls `handler` for every notification on the channel. Resolves once the server has been told. */
  on(channel: string, handler: (payload: string) => void): Promise<void>;
  /** Notifications may be missing from now on: what is cached on their word must not be trusted. */
  onLost(handler: () => void): void;
  /** Listening again. What was notified in between is gone for good, so caches start empty. */
  onRestored(handler: () => void): void;
  isConnected(): boolean;
  close(): Promise<void>;
}

const firstDelay = 50;
const longestDelay = 2000;

/**
 * One connection of its own that listens and comes back by itself when it is lost. Rejects when the first connection
 * fails. A peer that vanished without a word is noticed after `pingEveryMs + pingTimeoutMs` at the latest.
 */
export async function openListener(
  url: string,
  log: (message: string) => void,
  options: SessionOptions = {},
): Promise<Listener> {
  const handlers = new Map<string, ((payload: string) => void)[]>();
  const signals = new EventEmitter().setMaxListeners(0);
  const closing = new AbortController();
  let session: ListenSession | undefined = await connect();
  const running = keepListening(session);

  function connect(): Promise<ListenSession> {
    return openSession(url, [...handlers.keys()], options, (channel, payload) => {
      for (const handler of handlers.get(channel) ?? []) callSafely(() => handler(payload), log);
    });
  }

  async function keepListening(first: ListenSession): Promise<void> {
    await first.ended;
    while (!closing.signal.aborted) {
      session = undefined;
      log('the connection for notifications was lost');
      signals.emit('lost');
      session = await reconnect();
      if (!session) return;
      log('the connection for notifications is back');
      signals.emit('restored');
      await session.ended;
    }
  }

  async function reconnect(): Promise<ListenSession | undefined> {
    for (let delay = firstDelay; !closing.signal.aborted; delay = Math.min(2 * delay, longestDelay)) {
      const next = await connect().catch(() => undefined);
      if (next && !closing.signal.aborted) return next;
      await next?.end();
      // Spread, so that all nodes of a server that restarts do not come back in the same instant.
      await sleep(delay * (0.5 + Math.random() / 2), undefined, { signal: closing.signal }).catch(
        () => undefined,
      );
    }
    return undefined;
  }

  return {
    async on(channel, handler) {
      handlers.set(channel, [...(handlers.get(channel) ?? []), handler]);
      for (;;) {
        closing.signal.throwIfAborted();
        const told = await session?.listen(channel).then(
          () => true,
          () => false,
        );
        if (told) return;
        await once(signals, 'restored', {
          signal: AbortSignal.any([closing.signal, AbortSignal.timeout(longestDelay)]),
        }).catch(() => undefined);
      }
    },
    onLost: (handler) => void signals.on('lost', () => callSafely(handler, log)),
    onRestored: (handler) => void signals.on('restored', () => callSafely(handler, log)),
    isConnected: () => session !== undefined,
    async close() {
      closing.abort(new Error('the listener is closed'));
      await session?.end();
      await running;
      session = undefined;
    },
  };
}

/** One broken handler must not keep the others from hearing, nor end the connection. */
function callSafely(handler: () => void, log: (message: string) => void): void {
  try {
    handler();
  } catch (error) {
    log(`a handler of notifications failed: ${error instanceof Error ? error.message : String(error)}`);
  }
}
