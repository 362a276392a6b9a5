import { readPage } from '@causeway/service/http/paging.ts';
import { buildServer } from '@causeway/service/http/server.ts';
import { showParticipation } from '@causeway/service/participations/participation.ts';
import { participationRoutes } from '@causeway/service/participations/routes.ts';
import { ParticipationList } from '@causeway/service/participations/schema.ts';
import type { ParticipationRow } from '@causeway/service/participations/store.ts';
import { fastify } from 'fastify';
import { benchContext } from './context.ts';
import { seedParticipations } from './participations-seed.ts';

/**
 * This process serves two targets from one database: the service's list of participations, and a bare route that runs
 * the same SQL statements.
 */
const { ctx, clientId } = await benchContext();
const provider = ctx.oauth.provider();
const client = await provider.Client.find(clientId);
if (client === undefined) throw new Error('client not found');
const rows = Number(process.argv[2] ?? 1_000_000);
const { partnerId, queries, deepest } = await seedParticipations(ctx, clientId, rows);
// The token is issued after seeding, because seeding can take longer than the token's lifetime.
const token = await new provider.ClientCredentials({ client, scope: 'participations:read' }).save();

const app = await buildServer(ctx, participationRoutes);
const ours = await app.listen({ host: '127.0.0.1', port: 0 });
const bare = fastify();

type Statement = { text: string; values: unknown[] };

/** Captures the SQL statements that the service runs for this query. */
async function statementsOf(query: string): Promise<Statement[]> {
  const seen: Statement[] = [];
  const client = await ctx.pool.connect();
  const prototype = Object.getPrototypeOf(client) as { query: (...args: unknown[]) => unknown };
  const { query: original } = prototype;
  client.release();
  prototype.query = function (this: unknown, ...args: unknown[]) {
    const statement = args[0] as Statement;
    if (typeof statement === 'object' && /participations|users/.test(statement.text))
      seen.push({ ...statement });
    return Reflect.apply(original, this, args);
  };
  await app.inject({ url: `/v1/participations?${query}`, headers: { authorization: `Bearer ${token}` } });
  prototype.query = original;
  return seen;
}

const targets: Record<string, { ours: string; bare: string }> = {};
for (const [name, query] of Object.entries(queries)) {
  const statements = await statementsOf(query);
  const path = `/list-${Object.keys(targets).length}`;
  bare.get(path, { schema: { response: { 200: ParticipationList } } }, async () => {
    let found: ParticipationRow[] = [];
    for (const [i, statement] of statements.entries())
      found = (await ctx.pool.query({ name: `${name} ${i}`, ...statement })).rows;
    return { object: 'list', data: found.slice(0, 20).map(showParticipation) };
  });
  targets[name] = { ours: `${ours}/v1/participations?${query}`, bare: path };
}
const bareUrl = await bare.listen({ host: '127.0.0.1', port: 0 });
for (const target of Object.values(targets)) target.bare = `${bareUrl}${target.bare}`;

const page = await readPage(
  ctx.sealing,
  `participations ${partnerId} null []`,
  { limit: 20 },
  async () => deepest,
);
process.send?.({
  token,
  targets,
  pages: {
    first: `${ours}/v1/participations`,
    deepest: `${ours}/v1/participations?starting_after=${page.starting_after}`,
  },
});
