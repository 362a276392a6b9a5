import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';

/** How long the node keeps serving after it reports that it is not ready, so that load balancers notice. */
const ANNOUNCE_MS = 1_000;
/** How long open requests may take to finish after that. */
const FINISH_MS = 1_500;
const CHECK_INTERVAL_MS = 20;

/**
 * Returns a function that stops a server without losing requests. While it drains, every reply closes its connection,
 * so that clients reconnect to another node. It then waits until no request is open, for at most `FINISH_MS`, and
 * closes all remaining connections.
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
    const closing = app.close();
    const end = performance.now() + FINISH_MS;
    do await sleep(CHECK_INTERVAL_MS);
    while (openRequests > 0 && performance.now() < end);
    app.server.closeAllConnections();
    await closing;
  };
}
