import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../../kernel/errors.ts';
import type { Context } from '../../platform/context/context.ts';
import { clientNetwork } from '../../platform/http/network.ts';
import { requestRecorder } from '../../platform/http/request-log.ts';
import { visitedUrl } from '../../platform/http/visited-url.ts';
import { enforceLimit } from '../../platform/limits/rate-limits.ts';
import { readBasic } from './introspection.ts';
import { oidcRequest } from './oidc-request.ts';

const ENDPOINTS = [
  ['GET', '/oauth/authorize'],
  ['GET', '/oauth/authorize/:uid'],
  ['POST', '/oauth/token'],
  ['POST', '/oauth/revoke'],
  ['GET', '/oauth/userinfo'],
  ['POST', '/oauth/userinfo'],
  ['GET', '/oauth/jwks'],
  ['GET', '/.well-known/openid-configuration'],
  ['GET', '/.well-known/oauth-authorization-server'],
] as const;

const MAX_ID_LENGTH = 100;
const READS_SECRETS: ReadonlySet<string> = new Set(['/oauth/token', '/oauth/revoke', '/oauth/userinfo']);

export function oauthPlugin(ctx: Context) {
  return (app: FastifyInstance): void => {
    for (const [method, path] of ENDPOINTS) {
      const record = requestRecorder(ctx, method, path);
      app.route({
        method,
        url: path,
        config: { access: { who: 'public' }, forms: true },
        onResponse: (request, reply, done) => {
          record(request, reply.raw.statusCode);
          if (reply.raw.statusCode === 401) ctx.failedAuthentication.count(clientNetwork(request));
          done();
        },
        handler: async (request, reply) => {
          if (READS_SECRETS.has(path)) ctx.failedAuthentication.assertMayTry(clientNetwork(request));
          if (path === '/oauth/authorize') await enforceLimit(ctx, 'authorize', clientNetwork(request));
          await forward(ctx, request, reply);
        },
      });
    }
  };
}

function forward(ctx: Context, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const lane = laneOf(request);
  const form = request.method === 'POST' ? toForm(request.body) : undefined;
  reply.hijack();
  const answer = ctx.oauth.provider().callback();
  const isPage = request.url.startsWith('/oauth/authorize');
  const url = isPage ? visitedUrl(ctx, request) : ctx.baseUrl;
  return ctx.oauth.within({ id: request.id, lane }, () => answer(oidcRequest(request, url, form), reply.raw));
}

/**
 * Returns the database lane (queue) of the client that the request names. Anyone can name a client, so this lane is
 * separate from the lane of the partner's API requests. Requests that name no client share the lane of their IP
 * network.
 */
function laneOf(request: FastifyRequest): string {
  const { query, body, headers } = request;
  const { client_id } = { ...(query as object), ...(body as object) } as { client_id?: unknown };
  const named = /^Basic /i.test(headers.authorization ?? '') ? basicId(headers.authorization) : client_id;
  return typeof named === 'string' ? `oauth ${named.slice(0, MAX_ID_LENGTH)}` : clientNetwork(request);
}

function basicId(authorization = ''): string | undefined {
  try {
    return readBasic(authorization).id;
  } catch {
    return undefined;
  }
}

/** Throws `malformed_request` if a value is not a string, because OAuth parameters are always strings. */
function toForm(body: unknown): string {
  const form = new URLSearchParams();
  for (const [name, value] of Object.entries(body ?? {})) {
    if (typeof value !== 'string') throw new ApiError('malformed_request', { [name]: ['must be a string'] });
    form.set(name, value);
  }
  return form.toString();
}
