import { EventEmitter, once } from 'node:events';
import { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { openHosts } from './hosts.ts';

export interface Listener {
  /** Calls `handler` for every notification on the channel. Resolves when the subscription is active. */
  on(channel: string, handler: (payload: string) => void): Promise<void>;
  /**
   * Calls `handler` when the connection is lost. From then on notifications may be missed, so caches that
   * depend on them must not be used.
   */
  onLost(handler: () => void): void;
  /**
   * Calls `handler` when the connection is back. Notifications sent in the meantime are lost, so caches must
   * start empty.
   */
  onRestored(handler: () => void): void;
  isConnected(): boolean;
  close(): Promise<void>;
}

interface SessionOptions {
  /** Default: 250. */
  pingIntervalMs?: number;
  /**
   * Default: 700. The ping interval plus the ping timeout must be less than one second, so that a lost connection is
   * noticed in time: notifications tell this node which tokens were revoked, and a revocation must take effect within
   * one second.
   */
  pingTimeoutMs?: number;
  /** A statement to run on every new connection, for example one that takes a session-level lock. */
  opening?: string;
}

const MIN_RECONNECT_DELAY_MS = 50;
const MAX_RECONNECT_DELAY_MS = 2_000;

/**
 * Opens a dedicated listening connection that reconnects when it is lost. Rejects if the first connection fails. A peer
 * that stops responding is detected within `pingIntervalMs + pingTimeoutMs`.
 */
export async function openListener(
  url: string,
  log: (message: string) => void,
  options: SessionOptions = {},
): Promise<Listener> {
  const handlers = new Map<string, ((payload: string) => void)[]>();
  const signals = new EventEmitter().setMaxListeners(0);
  const closing = new AbortController();
  const hosts = openHosts(url);
  let session: ListenSession | undefined = await connectToAny();
  const running = keepListening(session);

  async function connect(): Promise<ListenSession> {
    const host = hosts.url();
    try {
      return await openSession(host, [...handlers.keys()], options, (channel, payload) => {
        for (const handler of handlers.get(channel) ?? []) callSafely(() => handler(payload), log);
      });
    } catch (error) {
      hosts.advance(host);
      throw error;
    }
  }

  async function connectToAny(attempts = hosts.count): Promise<ListenSession> {
    return connect().catch((error: unknown) => {
      if (attempts <= 1) throw error;
      return connectToAny(attempts - 1);
    });
  }

  async function keepListening(first: ListenSession): Promise<void> {
    await first.ended;
    while (!closing.signal.aborted) {
      session = undefined;
      log('notification connection lost');
      signals.emit('lost');
      session = await reconnect();
      if (!session) return;
      log('notification connection restored');
      signals.emit('restored');
      await session.ended;
    }
  }

  async function reconnect(): Promise<ListenSession | undefined> {
    for (
      let delay = MIN_RECONNECT_DELAY_MS;
      !closing.signal.aborted;
      delay = Math.min(2 * delay, MAX_RECONNECT_DELAY_MS)
    ) {
      const next = await connect().catch(() => undefined);
      if (next && !closing.signal.aborted) return next;
      await next?.end();
      // Jitter, so that the nodes do not all reconnect to a restarted server at once.
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
        const isSubscribed = await session?.listen(channel).then(
          () => true,
          () => false,
        );
        if (isSubscribed) return;
        await once(signals, 'restored', {
          signal: AbortSignal.any([closing.signal, AbortSignal.timeout(MAX_RECONNECT_DELAY_MS)]),
        }).catch(() => undefined);
      }
    },
    onLost: (handler) => void signals.on('lost', () => callSafely(handler, log)),
    onRestored: (handler) => void signals.on('restored', () => callSafely(handler, log)),
    isConnected: () => session !== undefined,
    async close() {
      closing.abort(new Error('listener closed'));
      await session?.end();
      await running;
      session = undefined;
    },
  };
}

/** A failing handler must not affect other handlers or the connection. */
function callSafely(handler: () => void, log: (message: string) => void): void {
  try {
    handler();
  } catch (error) {
    log(`notification handler failed: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** One connection. It never reconnects: once it has ended, a new session is needed. */
interface ListenSession {
  listen(channel: string): Promise<void>;
  ended: Promise<void>;
  end(): Promise<void>;
}

async function openSession(
  url: string,
  channels: string[],
  options: SessionOptions,
  onNotification: (channel: string, payload: string) => void,
): Promise<ListenSession> {
  const { pingIntervalMs = 250, pingTimeoutMs = 700 } = options;
  // Creates the socket here, so that it can be destroyed. A graceful close would wait forever for a dead peer.
  const socket = new Socket();
  const client = new pg.Client({
    connectionString: url,
    stream: () => socket,
    application_name: 'causeway-listen',
    connectionTimeoutMillis: 5000,
    query_timeout: pingTimeoutMs,
  });
  const ended = new Promise<void>((resolve) => {
    client.once('end', resolve);
    socket.once('close', () => resolve());
  });
  client.on('error', () => socket.destroy());
  client.on('notification', ({ channel, payload }) => onNotification(channel, payload ?? ''));

  let last: Promise<unknown> = Promise.resolve();
  /** Runs one statement at a time. A failure ends the connection. */
  function send(text: string): Promise<void> {
    const sent = last.then(async () => {
      await client.query(text);
    });
    last = sent.catch(() => socket.destroy());
    return sent;
  }
  const listen = (channel: string) => send(`listen ${client.escapeIdentifier(channel)}`);

  try {
    await client.connect();
    if (options.opening !== undefined) await send(options.opening);
    for (const channel of channels) await listen(channel);
  } catch (error) {
    socket.destroy();
    throw error;
  }
  const pings = setInterval(() => void send('select 1').catch(() => undefined), pingIntervalMs);
  void ended.then(() => clearInterval(pings));
  return {
    listen,
    ended,
    async end() {
      clearInterval(pings);
      await last;
      socket.destroy();
      await ended;
    },
  };
}

/** Throws if the connection is down, because no notifications can arrive. */
export function assertListening(listener: Listener): void {
  if (!listener.isConnected()) throw new Error('the notification connection is lost');
}
