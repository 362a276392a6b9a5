import type { FastifyInstance } from 'fastify';
import type { Context } from '../context.ts';
import { ApiError } from '../errors.ts';
import { findLastCheckpoint } from './store.ts';

/** Serves the newest checkpoint to everyone: copies that we cannot change prove that the log was not rewritten. */
export function auditPlugin(ctx: Pick<Context, 'db' | 'securityHeaders'>) {
  const config = { access: { who: 'public' as const } };
  return (app: FastifyInstance): void => {
    app.get('/audit/checkpoint', { config }, async (request, reply) => {
      const newest = await findLastCheckpoint(ctx.db);
      if (newest === undefined) throw new ApiError('not_found');
      return reply
        .headers({ ...ctx.securityHeaders, 'x-request-id': request.id, 'cache-control': 'no-store' })
        .type('text/plain; charset=utf-8')
        .send(newest.note);
    });
  };
}
