import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http';
import type { Context } from '../context/context.ts';
import { createAdmission } from './admission.ts';
import { rawHeader } from './raw-header.ts';
import { prepareRefusal } from './refusal.ts';
import { watchRefusals } from './refusing-connections.ts';

declare module 'node:http' {
  interface IncomingMessage {
    /** When the node read the request, according to `performance.now()`. */
    arrivedAt?: number;
  }
}

/**
 * Creates an HTTP server that refuses requests while the node is saturated. The server refuses requests before any
 * other code sees them, because a refusal must cost far less than a normal reply. It always answers health probes,
 * because a busy node that looks dead would be restarted.
 */
export function createSheddingServer(
  ctx: Context,
  options: ServerOptions & { keepAliveTimeout: number },
  handle: RequestListener,
): Server {
  const { config, guard, overload, readiness } = ctx;
  const refusal = prepareRefusal(ctx, options.keepAliveTimeout);
  const laneOf = (authorization: string | undefined) =>
    guard.partnerOf(authorization?.slice('Bearer '.length) ?? '') ?? null;
  const refuse: RequestListener = (request, response) => {
    connections.noticeRefusal(request, response);
    refusal.respond(request, response);
  };
  const { admit, isFull, noticeConnection } = createAdmission({
    maxWaitMs: config.maxEventLoopLagMs,
    laneOf: (request) => laneOf(rawHeader(request, 'authorization')),
    mayStart: overload.mayStart,
    start: handle,
    refuse,
  });
  const connections = watchRefusals((request) => {
    // While the node drains, every reply must close its connection. A reply from `refusal.write` would keep the
    // connection open.
    if (isProbe(request.url) || readiness.isDraining()) return null;
    const isRefused = overload.isSaturated() || isFull(laneOf(request.headers.get('authorization')));
    return isRefused ? refusal.write(request) : null;
  });
  return createServer(options, (request, response) => {
    request.arrivedAt = performance.now();
    connections.noticeRequest(request, response);
    if (isProbe(request.url)) handle(request, response);
    else if (overload.isSaturated()) refuse(request, response);
    else admit(request, response);
  }).on('connection', noticeConnection);
}

function isProbe(url: string | undefined): boolean {
  return url?.startsWith('/health') === true;
}
