import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket, Server as TcpServer } from 'node:net';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';

/**
 * How long the node keeps serving after it reports that it is not ready, so that load balancers have time to
 * notice.
 */
const ANNOUNCE_MS = 1_000;
/**
 * The time from the start of the drain until the remaining connections are closed. This leaves the process enough time
 * to exit within 5 s.
 */
const DRAIN_MS = 4_000;
/**
 * After the server has stopped listening, connections that have not sent a request stay open at least this long,
 * because a request may be on its way.
 */
const SILENT_MS = 300;
const CHECK_INTERVAL_MS = 20;

/**
 * How long the server tries to accept all waiting connections before it stops listening. This is long, because on a
 * busy machine the process may get no CPU time for a while.
 */
const ACCEPT_MS = 1_500;
const MAX_ACCEPT_ATTEMPTS = 100;
/**
 * After this many event loop turns without a new connection, no connection can be waiting. As long as connections are
 * waiting, each full turn accepts at least one.
 */
const IDLE_TURNS = 2;
/** The backlog while the server stops listening. The operating system queues one connection more than this number. */
const LAST_BACKLOG = 1;

/** Two methods of Node's internal socket handle that have no public equivalent. Both are synchronous system calls. */
type Handle = { listen(backlog: number): number; getpeername(address: object): number };

/**
 * Returns a function that stops a server without losing requests. While the server drains, every reply closes its
 * connection, so that the client reconnects to another node. The function waits until no request is open and every
 * connection opened during the drain has sent its request. After `DRAIN_MS`, it closes all remaining connections.
 */
export function prepareDrain(app: FastifyInstance, turnReadinessRed: () => void): () => Promise<void> {
  const { server } = app;
  let openRequests = 0;
  let isDraining = false;
  /**
   * Connections that were opened after the drain began and have not carried a request yet. A request is probably on its
   * way.
   */
  const unused = new Set<Socket>();
  server.on('connection', (socket) => {
    if (!isDraining) return;
    unused.add(socket);
    socket.once('close', () => unused.delete(socket));
  });
  server.prependListener('request', ({ socket }, response) => {
    openRequests++;
    response.once('close', () => {
      openRequests--;
    });
    if (!isDraining) return;
    unused.delete(socket);
    response.shouldKeepAlive = false;
  });
  return async () => {
    const end = performance.now() + DRAIN_MS;
    turnReadinessRed();
    isDraining = true;
    await sleep(ANNOUNCE_MS);
    await stopListening(server);
    // Before `close` closes the idle connections, lets Node read the data that has already arrived.
    await nextTurn();
    const closing = app.close();
    const silentUntil = performance.now() + SILENT_MS;
    const mayWait = async () => {
      const now = performance.now();
      if (now < silentUntil) return (await countConnections(server)) > 0;
      return now < end && openRequests + unused.size > 0;
    };
    do {
      await sleep(CHECK_INTERVAL_MS);
      // Node runs timers before it reads sockets. Without this turn, a process that had no CPU time for a while would
      // close connections whose data it has not read yet.
      await nextTurn();
    } while (await mayWait());
    server.closeAllConnections();
    await closing;
  };
}

/**
 * Accepts every waiting connection, then stops listening. When the listening socket closes, the operating system resets
 * connections that are still waiting. A proxy that has already sent a request on such a connection does not always
 * retry the request. Until the socket is closed, holds back requests, because handling them would delay accepting
 * connections.
 */
async function stopListening(server: Server): Promise<void> {
  const held: [IncomingMessage, ServerResponse][] = [];
  const listeners = server.rawListeners('request') as ((...args: unknown[]) => void)[];
  server.removeAllListeners('request').on('request', (...request) => held.push(request));
  const address = server.address() as AddressInfo;
  handleOf(server)?.listen(LAST_BACKLOG);
  const end = performance.now() + ACCEPT_MS;
  let own: Socket[] = [];
  for (let attempt = 0; attempt < MAX_ACCEPT_ATTEMPTS && performance.now() < end; attempt++) {
    for (const socket of own) socket.destroy();
    await acceptWaiting(server, end);
    own = await fillBacklog(address);
    if (own.every(isConnected)) break;
  }
  // Closes only the listening socket. `close` on the HTTP server would close idle connections first, and new
  // connections would arrive in the meantime.
  TcpServer.prototype.close.call(server);
  for (const socket of own) socket.destroy();
  server.removeAllListeners('request');
  for (const listener of listeners) server.on('request', listener);
  for (const request of held) server.emit('request', ...request);
}

async function acceptWaiting(server: Server, end: number): Promise<void> {
  let idleTurns = 0;
  const noticeConnection = () => {
    idleTurns = 0;
  };
  server.on('connection', noticeConnection);
  while (idleTurns < IDLE_TURNS && performance.now() < end) {
    idleTurns++;
    await nextTurn();
  }
  server.off('connection', noticeConnection);
}

/**
 * Fills the backlog with our own connections. If all of them are connected, no other connection is waiting, and the
 * operating system ignores the first packet of any new connection. By the time the client resends that packet, the
 * socket is closed. The client is then refused and connects to another node.
 */
async function fillBacklog({ address: host, port }: AddressInfo): Promise<Socket[]> {
  const own = Array.from({ length: LAST_BACKLOG + 1 }, () =>
    connect({ host, port }).on('error', () => undefined),
  );
  // Node connects on the next tick. A connection from a machine to itself is established immediately.
  await new Promise<void>((resolve) => process.nextTick(resolve));
  return own;
}

function isConnected(socket: Socket): boolean {
  return handleOf(socket)?.getpeername({}) === 0;
}

function handleOf(owner: Server | Socket): Handle | null {
  return (owner as unknown as { _handle: Handle | null })._handle;
}

function countConnections(server: Server): Promise<number> {
  return new Promise((resolve) => server.getConnections((_error, count) => resolve(count ?? 0)));
}
