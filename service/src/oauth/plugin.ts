import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../context.ts';
import { ApiError } from '../errors.ts';
import { enforceLimit } from '../http/enforce-limit.ts';
import { clientNetwork } from '../http/network.ts';
import { requestRecorder } from '../http/request-log.ts';
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

const READS_SECRETS: ReadonlySet<string> = new Set(['/oauth/token', '/oauth/revoke', '/oauth/userinfo']);

/** Registers oidc-provider's endpoints. It writes the replies itself. */
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
          forward(ctx, request, reply);
        },
      });
    }
  };
}

function forward(ctx: Context, request: FastifyRequest, reply: FastifyReply): void {
  const form = request.method === 'POST' ? toForm(request.body) : undefined;
  reply.hijack();
  const answer = ctx.oauth.provider().callback();
  void ctx.oauth.within(request.id, () => answer(oidcRequest(request, ctx.baseUrl, form), reply.raw));
}

/** Converts a JSON or form body to a form. Every OAuth parameter is a string. */
function toForm(body: unknown): string {
  const form = new URLSearchParams();
  for (const [name, value] of Object.entries(body ?? {})) {
    if (typeof value !== 'string') throw new ApiError('malformed_request', { [name]: ['must be a string'] });
    form.set(name, value);
  }
  return form.toString();
}
