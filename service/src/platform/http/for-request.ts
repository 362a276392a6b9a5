import type { FastifyRequest } from 'fastify';
import { actorOf } from '../../kernel/access.ts';
import type { Context } from '../context/context.ts';
import type { Db } from '../db/pool.ts';
import { clientNetwork } from './network.ts';

/**
 * Returns the context for one request. For each transaction in this context, the audit log records the request and, if
 * there is one, the caller. Events for the caller's partner contain the request id.
 */
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
    commitReply: commitOn(db),
  };
}

/** Returns `Context.commitReply` for requests without an idempotency key, whose replies are not stored. */
export function commitOn(db: Db): Context['commitReply'] {
  return (work) => db.transaction().execute(work);
}

/**
 * Returns the context for a visitor without a token. The context's queries wait in the lane (`Kernel.laneOf`) of the
 * visitor's network, so that one network cannot delay pages for other networks.
 */
export function forNetwork(ctx: Context, request: FastifyRequest): Context {
  const { db, tagged } = ctx.laneOf(clientNetwork(request));
  return { ...ctx, db, taggedDb: tagged };
}
