import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';

/** How long the node keeps serving after readiness turned red, so that load balancers can notice. */
const ANNOUNCE_MS = 1_000;
/** How long open requests may take to finish after that. */
const FINISH_MS = 1_500;
const CHECK_INTERVAL_MS = 20;

/**
 * Returns a function that stops a server without losing requests. Replies sent meanwhile close their connection, so that
 * clients open the next one elsewhere. Then connections without a request, such as silent ones, are cut at once, and the
 * others after `FINISH_MS`.
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
