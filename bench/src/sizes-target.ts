import { sealAuditLog } from '@causeway/service/audit/sealer.ts';
import type { Context } from '@causeway/service/context.ts';
import { appendEvents, placeEvents } from '@causeway/service/events/event.ts';
import { extendTrees } from '@causeway/service/events/tree.ts';
import { SCOPES } from '@causeway/service/http/access.ts';
import { issueUserTokens } from '@causeway/service/oauth/issue.ts';
import { sql } from 'kysely';
import { benchContext } from './context.ts';
import { seedParticipations } from './participations-seed.ts';
import type { Size } from './sizes.ts';

const SIGN_INS = 2_000;
const EVENT_BATCH = 500;
/** Participations per on-chain commit, as measured in `settlement.json`. */
const ROWS_PER_COMMIT = 36;
/** Calldata bytes per participation: 32 each for the address, the amount, the option and the token. */
const CALLDATA_PER_ROW = 128;
const rows = Number(process.argv[2]);
const { ctx, clientId } = await benchContext();
const { partnerId } = await seedParticipations(ctx, clientId, rows);
await seedUsers(ctx, partnerId);
await seedSignIns(ctx, clientId, Math.min(rows, SIGN_INS));
await seedEvents(ctx, partnerId);
await seedDeliveries(ctx, partnerId);
await seedTransactions(ctx);
await sql`select audit('participation.completed', audit_object('service', null),
  audit_object('participation', gen_random_uuid()::text)) from generate_series(1, ${rows}::int)`.execute(
  ctx.db,
);
while (await sealAuditLog(ctx, 0));
await ctx.pool.query({ text: 'vacuum analyze', query_timeout: 600_000 } as never);
const { rows: found } = await sql<{ name: string } & Size>`
  select c.relname as name, s.n_live_tup::int as rows, i.indexes::int,
    round(pg_table_size(c.oid)::numeric / s.n_live_tup)::int as "tableBytes",
    round(pg_indexes_size(c.oid)::numeric / s.n_live_tup)::int as "indexBytes"
  from pg_class c join pg_stat_user_tables s on s.relid = c.oid
    cross join lateral (select count(*) as indexes from pg_index x where x.indrelid = c.oid) i
  where s.n_live_tup >= 100 order by c.relname`.execute(ctx.db);
process.send?.(Object.fromEntries(found.map(({ name, ...size }) => [name, size])));

/** Adds users who have registered and connected a wallet. */
async function seedUsers({ db }: Context, partnerId: string): Promise<void> {
  const wallet = sql`'0x' || substr(encode(sha256(u.id::text::bytea), 'hex'), 1, 40)`;
  await sql`insert into users (id, email, kind, password_hash)
    select gen_random_uuid(), 'person' || i || '@example.com', 'person', '$argon2id$v=19$m=19456,t=2,p=1$' || repeat('x', 66)
    from generate_series(1, ${rows}::int) i`.execute(db);
  await sql`insert into wallet_proofs (partner_id, address, chain, protocol, user_id, kind, text, signature, proved_at)
    select ${partnerId}::uuid, ${wallet}, '*', 'ethereum', u.id, 'key', null, null, now()
    from users u where u.email like 'person%'`.execute(db);
  await sql`insert into option_addresses (id, option_id, user_id, protocol, address, partner_id, proved_chain, proved_at, created_at)
    select gen_random_uuid(), (select id from offer_options limit 1), u.id, 'ethereum', ${wallet}, ${partnerId}::uuid, '*',
      now(), now() from users u where u.email like 'person%'`.execute(db);
}

async function seedSignIns(ctx: Context, clientId: string, count: number): Promise<void> {
  const { rows: users } = await sql<{
    id: string;
  }>`select id from users where email like 'person%' limit ${count}`.execute(ctx.db);
  const scopes = Object.keys(SCOPES);
  for (const { id: userId } of users) await issueUserTokens(ctx, { clientId, userId, scopes });
}

async function seedEvents(ctx: Context, partnerId: string): Promise<void> {
  const { rows: participations } = await sql<{ id: string; user_id: string }>`
    select id, user_id from participations limit ${rows}`.execute(ctx.db);
  for (let from = 0; from < participations.length; from += EVENT_BATCH)
    await appendEvents(
      ctx,
      ctx.db,
      participations.slice(from, from + EVENT_BATCH).map(({ id, user_id }) => ({
        ...{ partnerId, userId: user_id, type: 'participation.completed' },
        data: {
          ...{ object: 'participation', id, offer_id: id, offer_option_id: id, status: 'completed' },
          ...{ amount: '25000000', asset_id: 'usd-coin', chain: 'ethereum_mainnet' },
        },
      })),
    );
  await placeEvents(ctx.db);
  await extendTrees(ctx);
}

/** Adds one delivered webhook per event. */
async function seedDeliveries({ db }: Context, partnerId: string): Promise<void> {
  await sql`insert into webhook_endpoints (id, partner_id, url, types, cursor, sealed_secret, inserted_at)
    values (gen_random_uuid(), ${partnerId}, 'https://partner.example/webhooks', '{*}', 0, '\\x00', now())`.execute(
    db,
  );
  await sql`insert into webhook_deliveries (id, endpoint_id, event_id, subject, sequence, state, attempts, inserted_at)
    select gen_random_uuid(), w.id, e.id, e.data ->> 'id', e.sequence, 'delivered', 1, now()
    from events e, webhook_endpoints w where e.partner_id = ${partnerId} limit ${rows}`.execute(db);
  await sql`insert into webhook_attempts (id, delivery_id, kind, at, duration_ms, status, address, response)
    select gen_random_uuid(), id, 'scheduled', now(), 120, 200, '203.0.113.7', '{"received":true}'
    from webhook_deliveries`.execute(db);
}

async function seedTransactions({ db }: Context): Promise<void> {
  const count = Math.ceil(rows / ROWS_PER_COMMIT);
  const calldata = CALLDATA_PER_ROW * ROWS_PER_COMMIT;
  await sql`insert into operator_transactions (id, chain, signer, nonce, kind, target, data, gas, state, mined_hash,
      block_number, block_hash, succeeded, fee_paid)
    select gen_random_uuid(), chain, address, i, 'commit', '0x' || repeat('f', 40),
      decode((select string_agg(md5(random()::text || i || j), '') from generate_series(1, ${calldata / 16}::int) j), 'hex'),
      2000000, 'final', sha256(i::text::bytea), i, sha256(i::text::bytea), true, 1000000000000000 from operator_keys, generate_series(1, ${count}::int) i`.execute(
    db,
  );
  await sql`insert into operator_attempts (hash, transaction_id, raw, max_fee, priority_fee, sent_at)
    select sha256(id::text::bytea), id, data, 1, 1, now() from operator_transactions where nonce > 0`.execute(
    db,
  );
}
