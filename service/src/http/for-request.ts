import type { FastifyRequest } from 'fastify';
import type { Context } from '../context.ts';
import { actorOf } from './access.ts';

/** Returns the context for one request. Its transactions and events name the request and, if known, the caller. */
export function forRequest(
  ctx: Context,
  { id, caller }: Pick<FastifyRequest, 'id'> & { caller?: FastifyRequest['caller'] },
): Context {
  const actor = caller == null ? null : actorOf(caller);
  const db = ctx.taggedDb({ requestId: id, actor });
  const requestPartnerId = caller?.partnerId ?? null;
  return {
    ...ctx,
    requestId: id,
    requestPartnerId,
    db,
    commitReply: (work) => db.transaction().execute(work),
  };
}
