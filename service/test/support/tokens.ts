import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { issueUserTokens } from '../../src/domain/oauth/issue.ts';
import { type Caller, SCOPES } from '../../src/kernel/access.ts';
import { hashSecret } from '../../src/kernel/secret-hash.ts';
import type { Context } from '../../src/platform/context/context.ts';

export const USER = '01890000-0000-7000-8000-0000000000aa';
export const REDIRECT = 'https://app.partner.test/callback';

export type TestClient = { clientId: string; secret: string };

/** Creates a partner with one client. If the partner exists, adds new origins to it. */
export async function makeClient(
  ctx: Context,
  {
    clientId = 'partner-one',
    partnerId = partnerOf(clientId),
    scopes = Object.keys(SCOPES),
    origins = [] as string[],
  } = {},
): Promise<TestClient> {
  const secret = `cws_${createHash('sha256').update(`secret of ${clientId}`).digest('base64url')}`;
  await sql`insert into partners as p (id, name, origins) values (${partnerId}, ${`Partner ${clientId}`}, ${origins})
    on conflict (id) do update set origins = array(select distinct unnest(p.origins || excluded.origins))`.execute(
    ctx.db,
  );
  await ctx.db
    .insertInto('oauth_clients')
    .values({
      client_id: clientId,
      partner_id: partnerId,
      redirect_uris: [REDIRECT],
      scopes: [...scopes],
      secret_hash: hashSecret(secret),
      previous_secret_hash: null,
      previous_secret_until: null,
    })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  while (!origins.every((origin) => ctx.guard.knowsOrigin(origin))) await sleep(2);
  return { clientId, secret };
}

export async function makeUser(ctx: Context, id: string = USER, email = `${id}@user.test`): Promise<string> {
  await sql`insert into users (id, email, kind) values (${id}, ${email}, 'person') on conflict do nothing`.execute(
    ctx.db,
  );
  return id;
}

/** Returns the partner id that belongs to a client id. */
export function partnerOf(clientId: string): string {
  if (clientId === 'partner-one') return '01890000-0000-7000-8000-000000000001';
  return `01890000-0000-7000-8000-${createHash('sha256').update(clientId).digest('hex').slice(0, 12)}`;
}

export async function issueTokenFor(ctx: Context, caller: Partial<Caller>): Promise<string> {
  const {
    clientId = 'partner-one',
    userId = USER,
    origins = new Set(),
    scopes = new Set(Object.keys(SCOPES)),
  } = caller;
  await makeClient(ctx, {
    clientId,
    partnerId: caller.partnerId ?? partnerOf(clientId),
    origins: [...origins],
  });
  if (userId !== null)
    return (
      await issueUserTokens(ctx, { clientId, userId: await makeUser(ctx, userId), scopes: [...scopes] })
    ).access_token;
  const provider = ctx.oauth.provider();
  const client = await provider.Client.find(clientId);
  if (client === undefined) throw new Error('the client does not exist');
  return new provider.ClientCredentials({ client, scope: [...scopes].join(' ') }).save();
}
