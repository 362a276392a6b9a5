import { participationRoutes } from '@causeway/service/domain/participations/routes.ts';
import { readPage } from '@causeway/service/kernel/paging.ts';
import { eventRoutes } from '@causeway/service/platform/events/routes.ts';
import { buildServer } from '@causeway/service/platform/http/server.ts';
import { benchContext } from './context.ts';
import { readInput } from './input.ts';

type Ends = { first: string; deepest: string };
export type Pages = { headers: Record<string, string>; participations: Ends; events: Ends };

const HOUR_MS = 3_600_000;

const { rows } = await readInput<{ rows: number }>();
const { ctx, partner } = await benchContext();
const { partner_id: partnerId, client_id } = partner;
await seed();
const app = await buildServer(ctx, [...participationRoutes, ...eventRoutes]);
const url = await app.listen({ host: '127.0.0.1', port: 0 });
// Issued after seeding, which can take longer than a token is valid.
const provider = ctx.oauth.provider();
const client = await provider.Client.find(client_id);
if (client === undefined) throw new Error('client not found');
const token = await new provider.ClientCredentials({
  client,
  scope: 'participations:read events:read',
}).save();
const pages: Pages = {
  headers: { authorization: `Bearer ${token}` },
  participations: await endsOf(
    'participations',
    `select inserted_at, id from participations where partner_id = $1 order by inserted_at, id limit 41`,
  ),
  events: await endsOf(
    'events',
    `select sequence as inserted_at, id from events where partner_id = $1 order by sequence limit 41`,
  ),
};
process.send?.(pages);

/** Returns the URLs of the first and of the last page. The cursor of the last page comes from the page before it. */
async function endsOf(list: string, oldestFirst: string): Promise<Ends> {
  const { rows: oldest } = await ctx.pool.query({ text: oldestFirst, values: [partnerId] });
  const before = oldest.slice(19).reverse();
  const { starting_after } = await readPage(
    ctx.sealing,
    `${list} ${partnerId} null []`,
    {},
    async () => before,
  );
  const first = `${url}/v1/${list}`;
  return { first, deepest: `${first}?starting_after=${starting_after}` };
}

/** Inserts the rows without their indexes, foreign keys and triggers, and builds the indexes afterwards. */
async function seed(): Promise<void> {
  const connection = await ctx.pool.connect();
  const run = (text: string) => connection.query({ text, query_timeout: HOUR_MS } as never);
  const { rows: indexes } = await connection.query<{ name: string; definition: string }>(
    `select indexname as name, indexdef as definition from pg_indexes
      where tablename = 'participations' and indexname <> 'participations_pkey'`,
  );
  await run('set statement_timeout = 0');
  await run(`set maintenance_work_mem = '512MB'`);
  await run('set session_replication_role = replica');
  for (const { name } of indexes) await run(`drop index ${name}`);
  for (const text of seedStatements()) await run(text);
  for (const { definition } of indexes) await run(definition);
  // Otherwise the database would vacuum in the background during the measurement.
  await run('vacuum analyze');
  await run('checkpoint');
  connection.release(true);
}

function seedStatements(): string[] {
  const uuid = (expression: string) =>
    `('00000000-0000-7000-8000-' || lpad(to_hex(${expression}), 12, '0'))::uuid`;
  const users = Math.max(100, rows / 100);
  return [
    `insert into assets (id, code, name, fractional_digits) values ('usd-coin', 'USDC', 'USD Coin', 6)`,
    `insert into offers (id, slug, type, name, logo_url, asset_id, inserted_at, updated_at)
      select ${uuid('i')}, 'offer-' || i, 'platform::token_sale', 'Offer', 'https://a.test/l.svg', 'usd-coin', now(), now()
      from generate_series(0, 9) i`,
    `insert into offer_options (id, offer_id, slug, position)
      select ${uuid('i')}, ${uuid('i')}, 'option', 0 from generate_series(0, 9) i`,
    `insert into users (id, email, kind)
      select ${uuid('i')}, 'user' || i || '@bench.test', 'person' from generate_series(0, ${users - 1}) i`,
    `insert into participations (id, partner_id, user_id, offer_id, offer_option_id, status, amount, asset_id, asset_code,
        asset_name, asset_digits, chain, wallet_address, fund_address, token_address, approval_hash, prepared_at, commit_id,
        commit_row, inserted_at, updated_at)
      select ${uuid(`${rows} - i`)}, '${partnerId}', ${uuid(`(i::bigint * 7919) % ${users}`)}, ${uuid('i % 10')}, ${uuid('i % 10')},
        'completed', 1000000 + i, 'usd-coin', 'USDC', 'USD Coin', 6, 'ethereum_sepolia', '0x' || lpad(to_hex(i), 40, '0'),
        '0x${'f'.repeat(40)}', '0x${'c'.repeat(40)}', decode(lpad(to_hex(i), 64, '0'), 'hex'), now(), '${partnerId}', i,
        now() - i * interval '1 second', now()
      from generate_series(1, ${rows}) i`,
    `insert into events (id, partner_id, type, data, inserted_at, position, sequence)
      select ('01900000-0000-7000-8000-' || lpad(to_hex(i), 12, '0'))::uuid, '${partnerId}', 'offer.published',
        '{"object":"offer"}', now(), ${10 ** 12}::bigint + i, i
      from generate_series(1, ${rows}) i`,
    `insert into partner_sequences values ('${partnerId}', ${rows})`,
  ];
}
