import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Server as TcpServer } from 'node:net';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';

/**
 * How long the node keeps serving after it reports that it is not ready, so that load balancers have time to
 * notice.
 */
const ANNOUNCE_MS = 1_000;
/** How long open requests may take to finish after the server has stopped listening. */
const FINISH_MS = 1_500;
/** How long a connection may stay open without a request after the server has stopped listening. */
const SILENT_MS = 300;
const CHECK_INTERVAL_MS = 20;

/** How long the server tries to accept all waiting connections before it stops listening. */
const ACCEPT_MS = 250;
/**
 * After this many turns of the event loop without a new connection, no connection is waiting: a full turn
 * accepts at least one if any waits.
 */
const IDLE_TURNS = 2;

/**
 * Returns a function that stops a server without losing requests. While the server drains, every reply closes its
 * connection, so that clients reconnect to another node. The function waits until no request is open, for at most
 * `FINISH_MS`, and then closes all remaining connections.
 */
export function prepareDrain(app: FastifyInstance, turnReadinessRed: () => void): () => Promise<void> {
  let openRequests = 0;
  let isDraining = false;
  app.server.prependListener('request', (_request, response) => {
    openRequests++;
    response.once('close', () => {
      openRequests--;
    });
    if (isDraining) response.shouldKeepAlive = false;
  });
  return async () => {
    turnReadinessRed();
    isDraining = true;
    await sleep(ANNOUNCE_MS);
    await stopListening(app.server);
    const closing = app.close();
    const start = performance.now();
    const mayWait = async () => {
      const waited = performance.now() - start;
      if (waited < SILENT_MS) return (await countConnections(app.server)) > 0;
      return waited < FINISH_MS && openRequests > 0;
    };
    do await sleep(CHECK_INTERVAL_MS);
    while (await mayWait());
    app.server.closeAllConnections();
    await closing;
  };
}

/**
 * Stops listening once every waiting connection is accepted. When the socket closes, the operating system resets
 * connections that still wait, and a proxy may not repeat a request that it sent on one of them. Requests are held back
 * meanwhile, because handling them would delay accepting the next connection.
 */
async function stopListening(server: Server): Promise<void> {
  const held: [IncomingMessage, ServerResponse][] = [];
  const listeners = server.rawListeners('request') as ((...args: unknown[]) => void)[];
  server.removeAllListeners('request').on('request', (...request) => held.push(request));
  let idleTurns = 0;
  const noticeConnection = () => {
    idleTurns = 0;
  };
  server.on('connection', noticeConnection);
  const end = performance.now() + ACCEPT_MS;
  while (idleTurns < IDLE_TURNS && performance.now() < end) {
    idleTurns++;
    await nextTurn();
  }
  // Closes only the listening socket. The `close` of the HTTP server would close idle connections first, and
  // new connections would arrive in the meantime.
  TcpServer.prototype.close.call(server);
  server.off('connection', noticeConnection).removeAllListeners('request');
  for (const listener of listeners) server.on('request', listener);
  for (const request of held) server.emit('request', ...request);
}

function countConnections(server: Server): Promise<number> {
  return new Promise((resolve) => server.getConnections((_error, count) => resolve(count ?? 0)));
}
