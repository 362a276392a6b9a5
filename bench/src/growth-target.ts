import type { Context } from '@causeway/service/context.ts';
import { eligibilityRoutes } from '@causeway/service/eligibility/routes.ts';
import { eventRoutes } from '@causeway/service/events/routes.ts';
import { readPage } from '@causeway/service/http/paging.ts';
import { buildServer } from '@causeway/service/http/server.ts';
import { issueUserTokens } from '@causeway/service/oauth/issue.ts';
import { applyOffers } from '@causeway/service/offers/apply.ts';
import { parseOfferFile } from '@causeway/service/offers/file.ts';
import { publishOffer } from '@causeway/service/offers/lifecycle.ts';
import { offerRoutes } from '@causeway/service/offers/routes.ts';
import { participationRoutes } from '@causeway/service/participations/routes.ts';
import { requirementRoutes } from '@causeway/service/requirements/routes.ts';
import { sql } from 'kysely';
import { type Bench, benchContext } from './context.ts';
import { seedEvents } from './events-pages.ts';
import { seedParticipations } from './participations-seed.ts';
import { statusesWorld } from './statuses-world.ts';
import type { Target } from './target.ts';

/**
 * This process seeds the database for one part of `growth.ts`, and serves the requests that `growth.ts` measures.
 * `size` is the number of rows, users, offers or options to seed, depending on the part.
 */
const [part = '', size = 0] = [process.argv[2], Number(process.argv[3])];
const PARTS: Record<string, () => Promise<Record<string, Target>>> = {
  users,
  offers,
  lists,
  events,
  eligibility,
};
/**
 * The number of users who send the requests in turn. With only one user, the database would serve the same cached rows
 * every time.
 */
const CALLERS = 50;

process.send?.(await (PARTS[part] as (typeof PARTS)[string])());

async function serve(ctx: Context, routes: Parameters<typeof buildServer>[1]): Promise<string> {
  return (await buildServer(ctx, routes)).listen({ host: '127.0.0.1', port: 0 });
}

/** Seeds users, each with reviews and a connected wallet. Issues tokens for `CALLERS` of the users. */
async function users(): Promise<Record<string, Target>> {
  const { ctx, clientId, options } = await statusesWorld();
  const { db } = ctx;
  await runLong(ctx, [
    // Skips the foreign key checks, because the seeded rows are consistent by construction.
    'set session_replication_role = replica',
    `insert into users (id, email, kind) select gen_random_uuid(), 'many' || i || '@bench.test', 'person'
      from generate_series(1, ${size}) i`,
    `insert into identity_reviews (user_id, level_name, review_status, answer, reviewed_at, as_of)
      select u.id, r.level_name, r.review_status, r.answer, r.reviewed_at, r.as_of
      from users u, identity_reviews r where u.email like 'many%'`,
    `insert into option_addresses (id, option_id, user_id, protocol, address, partner_id, proved_chain, proved_at, created_at)
      select gen_random_uuid(), '${options[0]?.id}', u.id, 'ethereum',
        '0x' || substr(encode(sha256(u.id::text::bytea), 'hex'), 1, 40), p.id, 'ethereum_sepolia', now(), now()
      from users u, partners p where u.email like 'many%'`,
    // Vacuums now. Otherwise the database would vacuum in the background during the measurement.
    'vacuum analyze',
    'checkpoint',
  ]);
  const { rows } = await sql<{ id: string }>`select id from users where email like 'many%'
    order by id limit ${CALLERS}`.execute(db);
  const tokens: string[] = [];
  for (const { id: userId } of rows)
    tokens.push(
      (await issueUserTokens(ctx, { clientId, userId, scopes: ['offers:read', 'requirements:read'] }))
        .access_token,
    );
  const url = await serve(ctx, [...requirementRoutes, ...eligibilityRoutes]);
  return {
    'the statuses of a user': { url: `${url}/v1/offers/bench/requirements/statuses`, tokens },
    'the eligibility of a user': { url: `${url}/v1/offers/bench/eligibility`, tokens },
  };
}

async function offers(): Promise<Record<string, Target>> {
  const { ctx, token } = await benchContext();
  const files = Array.from({ length: size }, (_, n) =>
    parseOfferFile(
      JSON.stringify({
        ...{ slug: `offer-${n}`, type: 'platform::token_sale', name: 'A fine asset', tagline: 'Own a share' },
        ...{ logo_url: 'https://assets.test/logo.svg', banner_url: 'https://assets.test/banner.svg' },
        ...{
          asset: 'usd-coin',
          funding_assets: ['usd-coin'],
          partners: ['Bench'],
          options: [{ slug: 'only' }],
        },
        assets: { 'usd-coin': { code: 'USDC', name: 'USD Coin', fractional_digits: 6 } },
      }),
      { name: 'bench.yaml' },
    ),
  );
  await applyOffers(ctx, files);
  for (const { slug } of files) await publishOffer(ctx, slug);
  const url = await serve(ctx, offerRoutes);
  const headers = { authorization: `Bearer ${token}` };
  return {
    'a page of four offers': { url: `${url}/v1/offers?limit=4`, headers },
    'an offer': { url: `${url}/v1/offers/offer-0`, headers },
  };
}

async function lists(): Promise<Record<string, Target>> {
  const bench = await benchContext();
  const { ctx, clientId } = bench;
  const { partnerId, queries, deepest } = await seedParticipations(ctx, clientId, size);
  const headers = await partnerHeaders(bench, 'participations:read');
  const page = await readPage(
    ctx.sealing,
    `participations ${partnerId} null []`,
    { limit: 20 },
    async () => deepest,
  );
  const url = `${await serve(ctx, participationRoutes)}/v1/participations`;
  return {
    'the first page of participations': { url, headers },
    'the last page of participations': { url: `${url}?starting_after=${page.starting_after}`, headers },
    'participations of an offer': { url: `${url}?${queries['offer_id ==']}`, headers },
    'participations with another status': { url: `${url}?${queries['status !=']}`, headers },
    'participations of a user': { url: `${url}?${queries['user_email ==']}`, headers },
  };
}

async function events(): Promise<Record<string, Target>> {
  const bench = await benchContext();
  const { ctx, clientId } = bench;
  const partnerId = await partnerOf(bench);
  await seedEvents(ctx, partnerId, size);
  const { rows } = await sql<{
    id: string;
    inserted_at: string;
  }>`select id, sequence::text as inserted_at from events
    where partner_id = ${partnerId} and sequence <= 41 order by sequence desc limit 21`.execute(ctx.db);
  const page = await readPage(ctx.sealing, `events ${partnerId} null []`, { limit: 20 }, async () => rows);
  const headers = await partnerHeaders({ ...bench, clientId }, 'events:read offers:read');
  const url = `${await serve(ctx, eventRoutes)}/v1/events`;
  return {
    'the first page of events': { url, headers },
    'the last page of events': { url: `${url}?starting_after=${page.starting_after}`, headers },
  };
}

async function eligibility(): Promise<Record<string, Target>> {
  const { ctx, token } = await statusesWorld(size);
  const url = await serve(ctx, eligibilityRoutes);
  const headers = { authorization: `Bearer ${token}` };
  return { 'the eligibility for an offer': { url: `${url}/v1/offers/bench/eligibility`, headers } };
}

async function partnerOf({ ctx, clientId }: Bench): Promise<string> {
  const { partner_id } = await ctx.db
    .selectFrom('oauth_clients')
    .select('partner_id')
    .where('client_id', '=', clientId)
    .executeTakeFirstOrThrow();
  return partner_id;
}

/** Returns headers with a token issued to the partner itself, not to a user. */
async function partnerHeaders({ ctx, clientId }: Bench, scope: string): Promise<Record<string, string>> {
  const provider = ctx.oauth.provider();
  const client = await provider.Client.find(clientId);
  if (client === undefined) throw new Error('client not found');
  return { authorization: `Bearer ${await new provider.ClientCredentials({ client, scope }).save()}` };
}

/** Runs statements without the service's time limit, on a connection that is closed afterwards. */
async function runLong({ pool }: Context, statements: readonly string[]): Promise<void> {
  const client = await pool.connect();
  try {
    for (const text of ['set statement_timeout = 0', ...statements])
      await client.query({ text, query_timeout: 3_600_000 } as never);
  } finally {
    client.release(true);
  }
}
