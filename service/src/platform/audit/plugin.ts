import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../../kernel/errors.ts';
import type { Context } from '../context/context.ts';
import { clientNetwork } from '../http/network.ts';
import { enforceLimit } from '../limits/rate-limits.ts';
import { findNewestCheckpoint } from './store.ts';
import { readPublicTile } from './tiles.ts';
import { HASH_BYTES, TILE_WIDTH } from './tree.ts';

const FULL_TILE_CACHE = 'public, max-age=31536000, immutable';
/**
 * Restoring a backup can change partial tiles: it may lack the newest entries, and other entries then take their
 * positions. An older copy of the tile would contradict the new checkpoint.
 */
const PARTIAL_TILE_CACHE = 'public, max-age=60';

type Parts = Pick<Context, 'db' | 'securityHeaders' | 'limiter' | 'config'>;

/**
 * Publishes the newest checkpoint and the tree's hashes (C2SP tlog-tiles). Copies reveal whether the log is rewritten
 * later. Entries are not public, so there are no entry bundles.
 */
export function auditPlugin(ctx: Parts) {
  const config = { access: { who: 'public' as const } };
  const prepare = async (request: FastifyRequest, reply: FastifyReply) => {
    reply.headers({ ...ctx.securityHeaders, 'x-request-id': request.id });
    await enforceLimit(ctx, 'audit', clientNetwork(request));
  };
  return (app: FastifyInstance): void => {
    app.get('/audit/checkpoint', { config }, async (request, reply) => {
      await prepare(request, reply);
      const newest = await findNewestCheckpoint(ctx.db);
      if (newest === undefined) throw new ApiError('not_found');
      return reply
        .headers({ 'cache-control': 'no-store' })
        .type('text/plain; charset=utf-8')
        .send(newest.note);
    });
    app.get<{ Params: { '*': string } }>('/audit/tile/*', { config }, async (request, reply) => {
      await prepare(request, reply);
      const hashes = await readPublicTile(ctx.db, request.params['*']);
      const isFull = hashes.length === TILE_WIDTH * HASH_BYTES;
      return reply
        .headers({ 'cache-control': isFull ? FULL_TILE_CACHE : PARTIAL_TILE_CACHE })
        .type('application/octet-stream')
        .send(hashes);
    });
  };
}
