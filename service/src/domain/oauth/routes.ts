import { clientNetwork } from '../../platform/http/network.ts';
import { setLimitHeaders } from '../../platform/http/replies.ts';
import { publicRoute } from '../../platform/http/route.ts';
import { introspectToken } from './introspection.ts';
import { Introspect, Introspection } from './schema.ts';

export const oauthRoutes = [
  publicRoute({
    method: 'POST',
    path: '/oauth/introspect',
    operationId: 'introspectToken',
    summary: 'Introspect an access token',
    description:
      'Client credentials are optional. Send them in the body or as HTTP Basic. If present, they must be valid, and tokens of other clients are reported as inactive. Without them, a strict rate limit applies per IPv4 address or IPv6 /64 network. A `client_id` without a secret counts as no credentials, and a Bearer header is ignored.',
    body: Introspect,
    forms: true,
    reply: Introspection,
    errors: ['unauthorized', 'rate_limited'],
    handle: (ctx, _caller, { body, request, reply }) =>
      introspectToken(ctx, {
        body,
        authorization: request.headers.authorization,
        network: clientNetwork(request),
        limited: (taken) => setLimitHeaders(reply, taken),
      }),
  }),
];
