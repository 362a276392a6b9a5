import { issueUserTokens } from '@causeway/service/domain/oauth/issue.ts';
import { findUserByEmail } from '@causeway/service/domain/users/store.ts';
import { invalidField } from '@causeway/service/kernel/errors.ts';
import { Closed, Email } from '@causeway/service/kernel/wire.ts';
import type { Context } from '@causeway/service/platform/context/context.ts';
import { publicRoute } from '@causeway/service/platform/http/route.ts';
import Type, { type Static } from 'typebox';
import { DEFAULT_CLIENT_ID, describePartners } from '../seed/partners.ts';
import type { ControlGroup } from './control-group.ts';

const IssueToken = Closed({
  email: Email,
  scope: Type.Optional(
    Type.String({
      maxLength: 1000,
      description: "Separated by spaces. Default: all of the client's scopes.",
    }),
  ),
  client_id: Type.Optional(Type.String({ maxLength: 200 })),
});

/** The credentials of the seeded partners, and a route that issues user tokens without a browser. */
export function tokenControls(ctx: Context): ControlGroup {
  return {
    overview: async () => ({ issuer: ctx.baseUrl, ...(await describePartners(ctx)) }),
    routes: [
      publicRoute({
        method: 'POST',
        path: '/sandbox/token',
        operationId: 'issueSandboxToken',
        summary: 'Issue the tokens that a partner receives when this user signs in',
        body: IssueToken,
        reply: Closed({
          access_token: Type.String(),
          token_type: Type.Literal('Bearer'),
          expires_in: Type.Integer(),
          refresh_token: Type.String(),
          id_token: Type.Optional(Type.String()),
          scope: Type.String(),
        }),
        errors: ['validation_failed'],
        handle: (_ctx, _caller, { body }) => issueToken(ctx, body),
      }),
    ],
  };
}

async function issueToken(
  ctx: Context,
  { email, scope, client_id: clientId = DEFAULT_CLIENT_ID }: Static<typeof IssueToken>,
) {
  const user = await findUserByEmail(ctx.db, email);
  if (user === undefined) throw invalidField('email', 'has no account; create one with POST /sandbox/users');
  const client = await ctx.oauth.findClient(clientId);
  if (client === undefined)
    throw invalidField('client_id', 'is not registered; GET /sandbox lists two registered clients');
  const requested = (scope ?? '').split(' ').filter((name) => name !== '');
  // As in OAuth's authorization code flow, an empty scope counts as absent.
  const scopes = requested.length === 0 ? client.scopes : requested;
  const unknown = scopes.find((name) => !client.scopes.includes(name));
  if (unknown !== undefined) throw invalidField('scope', `${unknown} is not registered for this client`);
  return issueUserTokens(ctx, { clientId, userId: user.id, scopes });
}
