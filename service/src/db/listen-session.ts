import { Socket } from 'node:net';
import pg from 'pg';

export interface SessionOptions {
  /** 500 ms unless told. */
  pingEveryMs?: number;
  /** 1 s unless told. */
  pingTimeoutMs?: number;
  /** A statement for every connection as it opens, such as taking a lock that lasts as long as it does. */
  opening?: string;
}

/** One connection from its opening to its end; never reconnects. */
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
  const { pingEveryMs = 500, pingTimeoutMs = 1000 } = options;
  // Ours to destroy: a polite goodbye to a peer that is gone would wait for ever.
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
  /** One statement at a time; after a failure the connection is not worth keeping. */
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
  const pings = setInterval(() => void send('select 1').catch(() => undefined), pingEveryMs);
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
