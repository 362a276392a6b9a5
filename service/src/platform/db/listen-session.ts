import { Socket } from 'node:net';
import pg from 'pg';

export interface SessionOptions {
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

/** One connection. It never reconnects: once it has ended, a new session is needed. */
export interface ListenSession {
  listen(channel: string): Promise<void>;
  ended: Promise<void>;
  end(): Promise<void>;
}

export async function openSession(
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
