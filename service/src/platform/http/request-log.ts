import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../context/context.ts';

type Recorded = Pick<FastifyRequest, 'id' | 'caller' | 'startedAt' | 'errorCode'>;

/** Logs and measures the requests of one route. Logs the route instead of the path, because a URL can contain secrets. */
export function requestRecorder(ctx: Context, method: string, route: string) {
  // Every load balancer probes the node every few seconds, so only failed probes are logged.
  const isProbe = route === '/health' || route === '/health/ready';
  return ({ id, caller, startedAt, errorCode }: Recorded, status: number): void => {
    const ms = performance.now() - startedAt;
    ctx.metrics.requestDuration.observe(
      { method, route, status: `${Math.floor(status / 100)}xx` },
      ms / 1000,
    );
    if (isProbe && status < 400) return;
    ctx.log.request({
      ...{ request_id: id, method, route, status, ms: Math.round(ms * 10) / 10 },
      error_code: errorCode ?? undefined,
      client_id: caller?.clientId,
      user_id: caller?.userId ?? undefined,
    });
  };
}

/**
 * Returns hooks for a route that a plugin registers itself. They add the headers, log line and metrics that declared
 * routes have.
 */
export function pluginHooks(ctx: Context, method: string, route: string) {
  const record = requestRecorder(ctx, method, route);
  return {
    onRequest: (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
      reply.headers(ctx.securityHeaders).header('x-request-id', request.id);
      done();
    },
    onSend: (
      request: FastifyRequest,
      reply: FastifyReply,
      payload: unknown,
      done: (error: Error | null, payload?: unknown) => void,
    ): void => {
      record(request, reply.statusCode);
      done(null, payload);
    },
  };
}
