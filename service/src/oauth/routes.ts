import { publicRoute } from '../http/route.ts';
import { introspectToken } from './introspection.ts';
import { Introspect, Introspection } from './schema.ts';

export const oauthRoutes = [
  publicRoute({
    method: 'POST',
    path: '/oauth/introspect',
    operationId: 'introspectToken',
    summary: 'Tells what an access token is worth',
    description:
      'Credentials are optional, in the body or by HTTP Basic. With them they must be right, and tokens of other clients are inactive. Without them few requests a minute are answered.',
    body: Introspect,
    forms: true,
    reply: Introspection,
    errors: ['unauthorized', 'rate_limited'],
    handle: (ctx, _caller, { body, request }) =>
      introspectToken(ctx, { body, authorization: request.headers.authorization, address: request.ip }),
  }),
];
