import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../context.ts';
import { ApiError } from '../errors.ts';
import { recordRequest } from '../http/add-route.ts';
import { libraryRequest } from './library-request.ts';

const ENDPOINTS = [
  ['GET', '/oauth/authorize', 'authorize'],
  ['GET', '/oauth/authorize/:uid', 'resumeAuthorization'],
  ['POST', '/oauth/token', 'issueToken'],
  ['POST', '/oauth/revoke', 'revokeToken'],
  ['GET', '/oauth/userinfo', 'getUserinfo'],
  ['POST', '/oauth/userinfo', 'postUserinfo'],
  ['GET', '/oauth/jwks', 'getKeys'],
  ['POST', '/oauth/session/confirm', 'changeAccount'],
  ['GET', '/.well-known/openid-configuration', 'getOpenidConfiguration'],
  ['GET', '/.well-known/oauth-authorization-server', 'getAuthorizationServer'],
] as const;

/** The library's endpoints: it writes the replies itself, we hand it the requests. */
export function oauthPlugin(ctx: Context) {
  return (app: FastifyInstance): void => {
    for (const [method, path, operationId] of ENDPOINTS) {
      app.route({
        method,
        url: path,
        config: { access: { who: 'public' }, forms: true },
        onResponse: recordRequest(ctx, { method, path, operationId }),
        handler: (request, reply) => answer(ctx, request, reply),
      });
    }
  };
}

function answer(ctx: Context, request: FastifyRequest, reply: FastifyReply): void {
  const form = request.method === 'POST' ? toForm(request.body) : undefined;
  reply.hijack();
  const provider = ctx.oauth.provider();
  void provider.callback()(libraryRequest(request, ctx.baseUrl, form), reply.raw);
}

/** Every parameter of OAuth is a string. */
function toForm(body: unknown): string {
  const form = new URLSearchParams();
  for (const [name, value] of Object.entries(body ?? {})) {
    if (typeof value !== 'string') throw new ApiError('malformed_request', { [name]: ['must be a string'] });
    form.set(name, value);
  }
  return form.toString();
}
