import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestApp, testApp } from '../../test/support/app.ts';
import { makeOffer, saleFile } from '../../test/support/offers.ts';
import { makeClient, makeUser, partnerOf } from '../../test/support/tokens.ts';
import { userId } from '../../test/support/wallets.ts';
import type { Filter } from '../http/filters.ts';
import type { Keyset } from '../http/paging.ts';
import { listParticipations } from './list-store.ts';
import { type FilterField, readSelection } from './selection.ts';

/** As in life: one sale, one kind of dollars, and all but a few rows come to the same end. */

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
  await sql`insert into operator_keys values ('ethereum_sepolia', ${signer}, 1, 1, 1, now())`.execute(ctx.db);
  await sql`insert into operator_transactions (id, chain, signer, nonce, kind, target, data, gas)
    values (${partnerId}, 'ethereum_sepolia', ${signer}, 0, 'commit', '0x', '', 1)`.execute(ctx.db);
  // Every tenth is another partner's.
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
  await sql`analyze participations`.execute(ctx.db);
});
afterAll(() => app.close());

/** How many rows the server has looked at for a page, however it is planned, and how many there were. */
async function look(
  filters: Filter<FilterField>[],
  plans: string,
  keyset = NEWEST,
  partner: string | null = partnerId,
) {
  return app.ctx.db.transaction().execute(async (tx) => {
    await sql`set local plan_cache_mode = ${sql.raw(plans)}`.execute(tx);
    const counted = async () => {
      const { rows } = await sql<{ n: bigint }>`
        select (coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::bigint as n
        from pg_stat_xact_user_tables where relname = 'participations'`.execute(tx);
      return Number(rows[0]?.n ?? 0n);
    };
    const before = await counted();
    const rows = await listParticipations(tx, partner, readSelection({ userId: null }, filters), keyset);
    return { rows, seen: (await counted()) - before };
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

/** Named by what is asked; with how many rows of a page there are. */
const questions: [string, () => Filter<FilterField>[], number][] = [
  ['everything', () => [], PAGE],
  ['a status that all have', () => [is('status', 'completed')], PAGE],
  ['a status that none has', () => [is('status', 'failed')], 0],
  ['statuses that none has', () => [is('status', 'failed', 'remitted')], 0],
  ['all but the status that all have', () => [not('status', 'completed')], 0],
  ['the offer', () => [is('offer_id', offer)], PAGE],
  ['an offer that none is of', () => [is('offer_id', empty.offer)], 0],
  ['both offers', () => [is('offer_id', offer, empty.offer)], PAGE],
  ['all but the offer', () => [not('offer_id', offer)], 0],
  ['all but the other offer', () => [not('offer_id', empty.offer)], PAGE],
  ['the option', () => [is('offer_option_id', option)], PAGE],
  ['an option that none is of', () => [is('offer_option_id', empty.option)], 0],
  ['all but the option', () => [not('offer_option_id', option)], 0],
  ['an option of the other offer', () => [is('offer_option_id', option), is('offer_id', empty.offer)], 0],
  ['the offer in a status that none has', () => [is('offer_id', offer), is('status', 'failed')], 0],
  ['a user', () => [is('user_id', userId(7))], PAGE],
  ['a user that has none', () => [is('user_id', userId(99))], 0],
  ['a user in a status that none has', () => [is('user_id', userId(7)), is('status', 'failed')], 0],
  ['users', () => [is('user_id', userId(7), userId(8), userId(99))], PAGE],
  ['all but a user', () => [not('user_id', userId(7))], PAGE],
  ['a user of the offer', () => [is('user_id', userId(7)), is('offer_id', offer)], PAGE],
  ['a user of the other offer', () => [is('user_id', userId(7)), is('offer_id', empty.offer)], 0],
  ['an address', () => [is('user_email', 'USER7@user.test')], PAGE],
  ['an address that nobody has', () => [is('user_email', 'nobody@user.test')], 0],
  ['addresses', () => [is('user_email', 'user7@user.test', 'user8@user.test')], PAGE],
  ['an address and another user', () => [is('user_email', 'user7@user.test'), is('user_id', userId(8))], 0],
];

test.each(questions)('a page of %s looks at no more rows than a few pages', async (_name, filters, found) => {
  for (const plans of ['force_custom_plan', 'force_generic_plan']) {
    const { rows, seen } = await look(filters(), plans);
    expect(rows.length).toBe(found);
    expect(seen, plans).toBeLessThanOrEqual(5 * PAGE);
  }
});

test('the last page looks at no more rows than the first', async () => {
  const { rows } = await sql<{ id: string; inserted_at: string }>`
    select id, inserted_at from participations order by inserted_at, id offset 30 limit 1`.execute(
    app.ctx.db,
  );
  const position = rows[0] ?? null;
  for (const plans of ['force_custom_plan', 'force_generic_plan'])
    for (const filters of [[], [is('offer_id', offer)], [is('status', 'completed')]]) {
      const last = await look(filters, plans, { ...NEWEST, position });
      expect(last.rows.length).toBe(PAGE);
      expect(last.seen).toBeLessThanOrEqual(5 * PAGE);
    }
});

test('an operator sees the rows of all partners in one order, and as quickly', async () => {
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
      const { rows, seen } = await look([...filters], plans, keyset, null);
      expect(rows.map(({ id }) => id)).toEqual(all.slice(start, start + PAGE).map(({ id }) => id));
      expect(seen).toBeLessThanOrEqual(5 * PAGE);
    }
    const none = await look([is('status', 'failed')], plans, NEWEST, null);
    expect(none).toEqual({ rows: [], seen: 0 });
  }
});

test('the server keeps the plan of every list', async () => {
  await app.ctx.db.connection().execute(async (db) => {
    for (const [, filters] of questions)
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
