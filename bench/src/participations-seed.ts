import type { Context } from '@causeway/service/context.ts';
import { sql } from 'kysely';

/** Inserts many participations of one partner with a realistic spread of users, offers and statuses. */
export async function seedParticipations(ctx: Context, clientId: string, rows: number) {
  const { db } = ctx;
  const { rows: found } = await sql<{
    id: string;
  }>`select partner_id as id from oauth_clients where client_id = ${clientId}`.execute(db);
  const partnerId = found[0]?.id ?? '';
  const client = await ctx.pool.connect();
  try {
    // Drops the indexes before the inserts and rebuilds them afterwards. Updating the indexes row by row would take
    // most of an hour.
    const { rows: indexes } = await client.query<{ name: string; definition: string }>(`
      select indexname as name, indexdef as definition from pg_indexes
      where tablename = 'participations' and indexname <> 'participations_pkey'`);
    const load = [
      ...['set statement_timeout = 0', `set maintenance_work_mem = '512MB'`],
      ...indexes.map(({ name }) => `drop index ${name}`),
      // Skips the foreign key checks, because the seeded rows are consistent by construction.
      ...['set session_replication_role = replica', ...statements(partnerId, rows)],
      ...indexes.map(({ definition }) => definition),
      'vacuum analyze participations',
      'checkpoint',
    ];
    for (const text of load) await client.query({ text, query_timeout: 3_600_000 } as never);
  } finally {
    client.release(true);
  }
  const { rows: deepest } = await sql<{ id: string; inserted_at: string }>`
    select id, inserted_at from participations where partner_id = ${partnerId} order by inserted_at, id limit 60`.execute(
    db,
  );
  const idPrefix = `00000000-0000-7000-8000-00000000000`;
  const filter = (field: string, op: string, value: string) =>
    `filters[0][field]=${field}&filters[0][op]=${encodeURIComponent(op)}&filters[0][value]=${encodeURIComponent(value)}`;
  const queries: Record<string, string> = {
    'no filter': '',
    'offer_id ==': filter('offer_id', '==', `${idPrefix}7`),
    'offer_id !=': filter('offer_id', '!=', `${idPrefix}7`),
    'offer_id in': filter('offer_id', 'in', `${idPrefix}7,${idPrefix}8,${idPrefix}9`),
    'offer_option_id ==': filter('offer_option_id', '==', `${idPrefix}7`),
    'user_id ==': filter('user_id', '==', '00000000-0000-7000-8000-000000000123'),
    'status ==': filter('status', '==', 'failed'),
    'status in': filter('status', 'in', 'failed,remitted,pending'),
    'status !=': filter('status', '!=', 'completed'),
    'user_email ==': filter('user_email', '==', 'user291@bench.test'),
  };
  // Returns the second-to-last page of the list (the 40th to the 21st row from the end) and the row after that page.
  // Because of the extra row, `readPage` returns a cursor. The last page starts at that cursor.
  return { partnerId, queries, deepest: deepest.slice(19, 40).reverse() };
}

const uuid = (expression: string) =>
  `('00000000-0000-7000-8000-' || lpad(to_hex(${expression}), 12, '0'))::uuid`;

function statements(partnerId: string, rows: number): string[] {
  const offers = 10;
  const users = Math.max(100, rows / 100);
  return [
    `insert into assets (id, code, name, fractional_digits) values ('usd-coin', 'USDC', 'USD Coin', 6) on conflict do nothing`,
    `insert into offers (id, slug, type, name, logo_url, asset_id, inserted_at, updated_at)
      select ${uuid('i')}, 'offer-' || i, 'platform::token_sale', 'Offer', 'https://a.test/l.svg', 'usd-coin', now(), now()
      from generate_series(0, ${offers - 1}) i`,
    `insert into offer_options (id, offer_id, slug, position)
      select ${uuid('i')}, ${uuid('i')}, 'option', 0 from generate_series(0, ${offers - 1}) i`,
    `insert into users (id, email, kind) select ${uuid('i')}, 'user' || i || '@bench.test', 'person' from generate_series(0, ${users - 1}) i`,
    `insert into operator_keys values ('ethereum_sepolia', '0x${'0'.repeat(40)}', 1, 1, 1, now())`,
    `insert into operator_transactions (id, chain, signer, nonce, kind, target, data, gas)
      values ('${partnerId}', 'ethereum_sepolia', '0x${'0'.repeat(40)}', 0, 'commit', '0x', '', 1)`,
    `insert into participations (id, partner_id, user_id, offer_id, offer_option_id, status, amount, asset_id, asset_code,
        asset_name, asset_digits, chain, wallet_address, fund_address, token_address, approval_hash, prepared_at, commit_id,
        commit_row, inserted_at, updated_at)
      select ${uuid(`${rows} - i`)}, '${partnerId}', ${uuid(`(i::bigint * 7919) % ${users}`)}, ${uuid(`i % ${offers}`)}, ${uuid(`i % ${offers}`)},
        (array['completed', 'completed', 'completed', 'completed', 'completed', 'completed', 'failed', 'remitted'])[1 + (i / 10) % 8],
        1000000 + i, 'usd-coin', 'USDC', 'USD Coin', 6, 'ethereum_sepolia', '0x' || lpad(to_hex(i), 40, '0'),
        '0x${'f'.repeat(40)}', '0x${'c'.repeat(40)}', decode(lpad(to_hex(i), 64, '0'), 'hex'), now(), '${partnerId}', i,
        now() - i * interval '1 second', now()
      from generate_series(1, ${rows}) i`,
  ];
}
