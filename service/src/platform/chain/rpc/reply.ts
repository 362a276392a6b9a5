import type { RpcReply } from './endpoint.ts';

/**
 * Returns the result of one reply in a batch, or null if the reply has no result. Throws if the reply is missing or is
 * an error.
 */
export function resultOf(reply: RpcReply | undefined): unknown {
  if (reply === undefined) throw new Error('the batch has too few replies');
  if ('error' in reply) throw reply.error;
  return reply.result ?? null;
}
