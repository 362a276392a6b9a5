import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../context/context.ts';

type Recorded = Pick<FastifyRequest, 'id' | 'caller' | 'startedAt' | 'errorCode'>;

/**
 * Logs and measures the requests of one route. The log line is concatenated from parts that need no escaping. It
 * contains the route instead of the path, because a URL can contain secrets.
 */
export function requestRecorder(ctx: Context, method: string, route: string) {
  const times = ctx.metrics.route(method, route);
  // Every load balancer probes the node every few seconds, so only failed probes are logged.
  const isProbe = route === '/health' || route === '/health/ready';
  const middle = `","msg":"request","method":"${method}","route":"${route}","status":`;
  return ({ id, caller, startedAt, errorCode }: Recorded, status: number): void => {
    const ms = performance.now() - startedAt;
    times.observe(status, ms);
    if (isProbe && status < 400) return;
    const failure = errorCode === null ? '' : `,"error_code":"${errorCode}"`;
    const who = caller === null ? '' : `,${caller.logged}`;
    ctx.log.request(
      `{"level":30,"time":${Date.now()},"request_id":"${id}${middle}${status},"ms":${Math.round(ms * 10) / 10}${failure}${who}${ctx.log.origin}}`,
    );
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
