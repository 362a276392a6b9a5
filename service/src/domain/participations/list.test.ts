import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestApp, testApp } from '../../../test/support/app.ts';
import { makeOffer, saleFile } from '../../../test/support/offers.ts';
import { makeClient, makeUser, partnerOf } from '../../../test/support/tokens.ts';
import { userId } from '../../../test/support/wallets.ts';
import type { Keyset } from '../../kernel/paging.ts';
import type { Filter } from '../../platform/http/filters.ts';
import { listParticipations } from './list-store.ts';
import { type FilterField, readSelection } from './selection.ts';

/** The number of participations. As in a real sale, they share one offer, one funding asset and one status. */
const ROWS = 4_000;
const PAGE = 21;
const NEWEST: Keyset = { direction: 'older', position: null, limit: PAGE };
const partnerId = partnerOf('partner-one');
let app: TestApp;
let offer: string;
let option: string;
let empty: { offer: string; option: string };

beforeAll(async () => {
  app = await testApp();
  const { ctx } = app;
  await makeClient(ctx, { clientId: 'partner-two' });
  const [sold, other] = [await makeOffer(ctx, saleFile()), await makeOffer(ctx, saleFile({ slug: 'other' }))];
  offer = sold.id;
  option = sold.options[0]?.id ?? '';
  empty = { offer: other.id, option: other.options[0]?.id ?? '' };
  for (let i = 0; i < 40; i++) await makeUser(ctx, userId(i), `user${i}@user.test`);
  const signer = `0x${'0'.repeat(40)}`;
  await sql`insert into operator_keys (chain, address, next_nonce, epoch, node, lease_until) values ('ethereum_sepolia', ${signer}, 1, 1, 1, now())`.execute(
    ctx.db,
  );
  await sql`insert into operator_transactions (id, chain, signer, nonce, kind, target, data, gas)
    values (${partnerId}, 'ethereum_sepolia', ${signer}, 0, 'commit', '0x', '', 1)`.execute(ctx.db);
  // Every tenth row belongs to another partner.
  await sql`
    insert into participations (id, partner_id, user_id, offer_id, offer_option_id, status, amount, asset_id, asset_code,
      asset_name, asset_digits, chain, wallet_address, fund_address, token_address, approval_hash, prepared_at, commit_id,
      commit_row, inserted_at, updated_at)
    select gen_random_uuid(), case i % 10 when 5 then ${partnerOf('partner-two')}::uuid else ${partnerId}::uuid end, u.id, ${offer}, ${option}, 'completed', 1000 + i, 'usd-coin', 'USDC', 'USD Coin', 6,
      'ethereum_sepolia', '0x' || lpad(to_hex(i), 40, '0'), ${signer}, ${signer}, decode(lpad(to_hex(i), 64, '0'), 'hex'),
      now(), ${partnerId}, i, now() - i * interval '1 second', now()
    from generate_series(1, ${ROWS}) i
      join (select id, row_number() over (order by id) - 1 as n from users where email like 'user%@user.test') u on u.n = i % 40`.execute(
    ctx.db,
  );
  await sql`insert into oauth_grants (id, client_id, user_id, payload, expires_at)
    select 'grant ' || id, 'partner-one', id, '{"openid": {"scope": "openid email"}}', now() + interval '1 day' from users`.execute(
    ctx.db,
  );
  await sql`analyze participations`.execute(ctx.db);
});
afterAll(() => app.close());

/** Reads a page with the given plan mode and counts the rows that PostgreSQL touched. */
async function readCounted(
  filters: Filter<FilterField>[],
  plans: string,
  keyset = NEWEST,
  partner: string | null = partnerId,
) {
  return app.ctx.db.transaction().execute(async (tx) => {
    await sql`set local plan_cache_mode = ${sql.raw(plans)}`.execute(tx);
    const touchedRows = async () => {
      const { rows } = await sql<{ n: bigint }>`
        select (coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::bigint as n
        from pg_stat_xact_user_tables where relname = 'participations'`.execute(tx);
      return Number(rows[0]?.n ?? 0n);
    };
    const before = await touchedRows();
    const rows = await listParticipations(tx, partner, readSelection({ userId: null }, filters), keyset);
    return { rows, touched: (await touchedRows()) - before };
  });
}

const is = (field: FilterField, ...values: string[]): Filter<FilterField> => ({
  field,
  op: values.length === 1 ? '==' : 'in',
  values,
});
const not = (field: FilterField, value: string): Filter<FilterField> => ({
  field,
  op: '!=',
  values: [value],
});

/** Each case consists of a name, the filters and the expected number of rows on the first page. */
const cases: [string, () => Filter<FilterField>[], number][] = [
  ['everything', () => [], PAGE],
  ['the status of all rows', () => [is('status', 'completed')], PAGE],
  ['a status without rows', () => [is('status', 'failed')], 0],
  ['statuses without rows', () => [is('status', 'failed', 'remitted')], 0],
  ['all but the status of all rows', () => [not('status', 'completed')], 0],
  ['the offer', () => [is('offer_id', offer)], PAGE],
  ['an offer without rows', () => [is('offer_id', empty.offer)], 0],
  ['both offers', () => [is('offer_id', offer, empty.offer)], PAGE],
  ['all but the offer', () => [not('offer_id', offer)], 0],
  ['all but the other offer', () => [not('offer_id', empty.offer)], PAGE],
  ['the option', () => [is('offer_option_id', option)], PAGE],
  ['an option without rows', () => [is('offer_option_id', empty.option)], 0],
  ['all but the option', () => [not('offer_option_id', option)], 0],
  ['an option of the other offer', () => [is('offer_option_id', option), is('offer_id', empty.offer)], 0],
  ['the offer in a status without rows', () => [is('offer_id', offer), is('status', 'failed')], 0],
  ['a user', () => [is('user_id', userId(7))], PAGE],
  ['a user without rows', () => [is('user_id', userId(99))], 0],
  ['a user in a status without rows', () => [is('user_id', userId(7)), is('status', 'failed')], 0],
  ['users', () => [is('user_id', userId(7), userId(8), userId(99))], PAGE],
  ['all but a user', () => [not('user_id', userId(7))], PAGE],
  ['a user of the offer', () => [is('user_id', userId(7)), is('offer_id', offer)], PAGE],
  ['a user of the other offer', () => [is('user_id', userId(7)), is('offer_id', empty.offer)], 0],
  ['an email', () => [is('user_email', 'USER7@user.test')], PAGE],
  ['an unknown email', () => [is('user_email', 'nobody@user.test')], 0],
  ['emails', () => [is('user_email', 'user7@user.test', 'user8@user.test')], PAGE],
  ['an email and another user', () => [is('user_email', 'user7@user.test'), is('user_id', userId(8))], 0],
];

test.each(cases)('reading %s touches no more rows than a few pages', async (_name, filters, found) => {
  for (const plans of ['force_custom_plan', 'force_generic_plan']) {
    const { rows, touched } = await readCounted(filters(), plans);
    expect(rows.length).toBe(found);
    expect(touched, plans).toBeLessThanOrEqual(5 * PAGE);
  }
});

test('reading the last page touches no more rows than reading the first', async () => {
  const { rows } = await sql<{ id: string; inserted_at: string }>`
    select id, inserted_at from participations order by inserted_at, id offset 30 limit 1`.execute(
    app.ctx.db,
  );
  const position = rows[0] ?? null;
  for (const plans of ['force_custom_plan', 'force_generic_plan'])
    for (const filters of [[], [is('offer_id', offer)], [is('status', 'completed')]]) {
      const last = await readCounted(filters, plans, { ...NEWEST, position });
      expect(last.rows.length).toBe(PAGE);
      expect(last.touched).toBeLessThanOrEqual(5 * PAGE);
    }
});

test('reading the rows of all partners keeps their order and touches as few rows', async () => {
  const { rows: all } = await sql<{ id: string; inserted_at: string }>`
    select id, inserted_at from participations order by inserted_at desc, id desc`.execute(app.ctx.db);
  for (const plans of ['force_custom_plan', 'force_generic_plan']) {
    for (const [filters, start] of [
      [[], 0],
      [[], ROWS - 30],
      [[is('status', 'completed')], 40],
      [[is('offer_id', offer)], 40],
    ] as const) {
      const keyset = { ...NEWEST, position: all[start - 1] ?? null };
      const { rows, touched } = await readCounted([...filters], plans, keyset, null);
      expect(rows.map(({ id }) => id)).toEqual(all.slice(start, start + PAGE).map(({ id }) => id));
      expect(touched).toBeLessThanOrEqual(5 * PAGE);
    }
    const none = await readCounted([is('status', 'failed')], plans, NEWEST, null);
    expect(none).toEqual({ rows: [], touched: 0 });
  }
});

test('PostgreSQL caches the plan of every list statement', async () => {
  await app.ctx.db.connection().execute(async (db) => {
    for (const [, filters] of cases)
      for (let i = 0; i < 8; i++)
        await listParticipations(db, partnerId, readSelection({ userId: null }, filters()), NEWEST);
    const { rows } = await sql<{ statement: string }>`
      select statement from pg_prepared_statements
      where statement like '%from participations p where%' and generic_plans = 0 and custom_plans > 5`.execute(
      db,
    );
    expect(rows).toEqual([]);
  });
});
