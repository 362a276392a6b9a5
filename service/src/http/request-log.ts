import type { FastifyRequest } from 'fastify';
import type { Context } from '../context.ts';

/**
 * Counts and logs the requests of one route. The line is put together by hand from parts that need no
 * escaping, and names the route, never the path: what stands in a URL can be somebody's secret.
 */
export function requestRecorder(ctx: Context, method: string, route: string) {
  const times = ctx.metrics.route(method, route);
  const middle = `","msg":"request","method":"${method}","route":"${route}","status":`;
  return ({ id, caller, startedAt }: FastifyRequest, status: number): void => {
    const ms = performance.now() - startedAt;
    times.observe(status, ms);
    const who = caller === null ? '' : `,${caller.logged}`;
    ctx.log.request(
      `{"level":30,"time":${Date.now()},"request_id":"${id}${middle}${status},"ms":${Math.round(ms * 10) / 10}${who}}`,
    );
  };
}
