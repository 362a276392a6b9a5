import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket, connect as tcpConnect } from 'node:net';
import pg from 'pg';

const READY = Buffer.from('Z\0\0\0\x05I', 'latin1');
const GREETING = Buffer.concat([
  Buffer.from('R\0\0\0\x08\0\0\0\0', 'latin1'),
  Buffer.from('K\0\0\0\x0c\0\0\0\x01\0\0\0\x01', 'latin1'),
  READY,
]);
const PARSE_COMPLETE = Buffer.from('1\0\0\0\x04', 'latin1');

type Server = { socket: Socket; client: Client | null; prepared: Set<string>; swallow: number };
type Client = { socket: Socket; server: Server | null; waiting: Buffer[] };

export type Pooler = { url: string; close(): Promise<void> };

/**
 * Speaks PostgreSQL's protocol like PgBouncer in transaction mode: a client has a server connection only until its
 * transaction ends. With `preparesStatements`, the pooler keeps track of prepared statements for all clients, like
 * PgBouncer since 1.21.
 */
export async function startTransactionPooler(
  url: string,
  { preparesStatements = false } = {},
): Promise<Pooler> {
  const { host, port, user = '', database = '' } = new pg.Client({ connectionString: url });
  const servers: Server[] = [];
  const idle: Server[] = [];
  const queue: Client[] = [];
  const sockets = new Set<Socket>();
  /** The Parse message of each named statement. */
  const parses = new Map<string, Buffer>();

  const lend = (client: Client, server: Server): void => {
    client.server = server;
    server.client = client;
    for (const message of client.waiting.splice(0)) forward(client, server, message);
  };
  const giveBack = (server: Server): void => {
    if (server.client !== null) server.client.server = null;
    server.client = null;
    const next = queue.shift();
    if (next === undefined) idle.push(server);
    else lend(next, server);
  };
  const forward = (client: Client, server: Server, message: Buffer): void => {
    const type = String.fromCharCode(message[0] ?? 0);
    if (preparesStatements && type === 'P') {
      const name = textAt(message, 5);
      if (name !== '' && server.prepared.has(name)) return void client.socket.write(PARSE_COMPLETE);
      parses.set(name, message);
      server.prepared.add(name);
    }
    if (preparesStatements && type === 'B') {
      const portal = textAt(message, 5);
      const name = textAt(message, 6 + portal.length);
      const parse = parses.get(name);
      if (name !== '' && parse !== undefined && !server.prepared.has(name)) {
        server.prepared.add(name);
        server.swallow++;
        server.socket.write(parse);
      }
    }
    server.socket.write(message);
  };
  const addServer = async (): Promise<void> => {
    const socket = tcpConnect({ path: `${host}/.s.PGSQL.${port}` });
    sockets.add(socket);
    const server: Server = { socket, client: null, prepared: new Set(), swallow: 0 };
    servers.push(server);
    const started = new Promise<void>((resolve) => {
      let isReady = false;
      readMessages(socket, (message) => {
        const type = String.fromCharCode(message[0] ?? 0);
        const isIdle = type === 'Z' && message[5] === 0x49;
        if (!isReady) {
          isReady = isIdle;
          if (isReady) resolve();
          return;
        }
        if (type === '1' && server.swallow > 0) server.swallow--;
        // As in PgBouncer, a notification is lost if no client currently has the server connection.
        else server.client?.socket.write(message);
        if (isIdle) giveBack(server);
      });
    });
    const body = Buffer.from(`\0\x03\0\0user\0${user}\0database\0${database}\0\0`);
    const size = Buffer.alloc(4);
    size.writeInt32BE(body.length + 4);
    socket.write(Buffer.concat([size, body]));
    await started;
    idle.push(server);
  };
  const serveClient = (socket: Socket): void => {
    sockets.add(socket);
    const client: Client = { socket, server: null, waiting: [] };
    socket.on('error', () => undefined);
    socket.once('data', () => {
      socket.write(GREETING);
      readMessages(socket, (message) => {
        if (message[0] === 0x58) return void socket.end();
        if (client.server !== null) return forward(client, client.server, message);
        client.waiting.push(message);
        if (queue.includes(client)) return;
        const server = idle.pop();
        if (server === undefined) queue.push(client);
        else lend(client, server);
      });
    });
  };
  await Promise.all([addServer(), addServer(), addServer()]);
  const listener = createServer(serveClient).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  return {
    url: `postgres://${user}@127.0.0.1:${(listener.address() as AddressInfo).port}/${database}`,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      listener.close();
      await once(listener, 'close');
    },
  };
}

/**
 * Splits a stream into messages. Each consists of a type, the length of the remaining bytes, and those bytes.
 */
function readMessages(socket: Socket, handle: (message: Buffer) => void): void {
  let rest: Buffer = Buffer.alloc(0);
  socket.on('data', (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= 5 && rest.length >= 1 + rest.readInt32BE(1)) {
      const end = 1 + rest.readInt32BE(1);
      handle(rest.subarray(0, end));
      rest = rest.subarray(end);
    }
  });
}

function textAt(message: Buffer, start: number): string {
  return message.toString('latin1', start, message.indexOf(0, start));
}
