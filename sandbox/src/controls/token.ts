import { findUserByEmail } from '@causeway/service/accounts/user.ts';
import type { Context } from '@causeway/service/context.ts';
import { invalidField } from '@causeway/service/errors.ts';
import { publicRoute } from '@causeway/service/http/route.ts';
import { Closed, Email } from '@causeway/service/http/wire.ts';
import { issueUserTokens } from '@causeway/service/oauth/issue.ts';
import Type, { type Static } from 'typebox';

const IssueToken = Closed({
  email: Email,
  scope: Type.Optional(
    Type.String({ maxLength: 1000, description: 'Separated by spaces; all of the client unless told.' }),
  ),
  client_id: Type.Optional(Type.String({ maxLength: 200 })),
});

export function tokenRoute(defaultClient: string) {
  return publicRoute({
    method: 'POST',
    path: '/sandbox/token',
    operationId: 'issueSandboxToken',
    summary: 'What a completed sign-in of this user gives a partner, without a browser',
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
    handle: (ctx, _caller, { body }) => issueToken(ctx, { client_id: defaultClient, ...body }),
  });
}

type Asked = Static<typeof IssueToken> & { client_id: string };

async function issueToken(ctx: Context, { email, scope, client_id }: Asked) {
  const user = await findUserByEmail(ctx.db, email);
  if (user === undefined) throw invalidField('email', 'has no account; POST /sandbox/users makes one');
  const client = await ctx.oauth.findClient(client_id);
  if (client === undefined)
    throw invalidField('client_id', 'is not registered; GET /sandbox names two that are');
  const asked = scope?.split(' ').filter((one) => one !== '') ?? client.scopes;
  const unknown = asked.find((one) => !client.scopes.includes(one));
  if (unknown !== undefined) throw invalidField('scope', `${unknown} is not registered for this client`);
  return issueUserTokens(ctx, { clientId: client_id, userId: user.id, scopes: asked });
}
