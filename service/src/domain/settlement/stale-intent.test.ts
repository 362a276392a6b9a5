import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterEach, describe, expect, test } from 'vitest';
import { saleWorker, UNIT } from '../../../test/support/sale.ts';
import { expectDatabaseToMatchFund, stopFund, useSale } from '../../../test/support/settlement.ts';
import { closeOffer, reopenOffer } from '../offer-files/lifecycle.ts';
import { listExpired } from './pending-store.ts';
import { postponeRows } from './store.ts';

const sale = useSale();
afterEach(() => sale.resumeMining());

const HOURS = 3_600;

describe('a pending participation', () => {
  test('expires after 24 hours, and not earlier', async () => {
    await stopFund(sale, 2n);
    const { id } = await sale.participate(sale.buyer(0), 5n * UNIT);
    const { settle } = saleWorker(sale);
    sale.app.clock.advance(24 * HOURS - 1);
    await settle();
    expect(await sale.statusOf(id)).toBe('pending');
    sale.app.clock.advance(2);
    await settle();
    expect(await sale.statusOf(id)).toBe('failed');
    expect(await sale.reasonOf(id)).toBe('expired');
    await stopFund(sale, 0n);
    await expectDatabaseToMatchFund(sale);
  });

  test('expires after the hours that its offer says', async () => {
    const { db } = sale.app.ctx;
    const limit = (hours: number | null) =>
      sql`update offers set pending_hours = ${hours} where slug = ${sale.offer.slug}`.execute(db);
    await stopFund(sale, 2n);
    await limit(2);
    const { id } = await sale.participate(sale.buyer(1), 5n * UNIT);
    const { settle } = saleWorker(sale);
    sale.app.clock.advance(2 * HOURS - 1);
    await settle();
    expect(await sale.statusOf(id)).toBe('pending');
    sale.app.clock.advance(2);
    await settle();
    expect(await sale.reasonOf(id)).toBe('expired');
    await limit(null);
    await stopFund(sale, 0n);
  });

  test('does not expire while it is frozen', async () => {
    const { id } = await sale.participate(sale.buyer(0), 5n * UNIT);
    const freeze = (reason: string | null) =>
      sql`update participations set frozen_reason = ${reason}, check_at = now() where id = ${id}`.execute(
        sale.app.ctx.db,
      );
    await freeze('hold');
    sale.app.clock.advance(25 * HOURS);
    await saleWorker(sale).round();
    expect(await sale.statusOf(id)).toBe('pending');
    await freeze(null);
    await saleWorker(sale).round();
    expect(await sale.reasonOf(id)).toBe('expired');
  });
});

test('expired rows that cannot fail yet do not hide other expired rows', async () => {
  const { db, clock } = sale.app.ctx;
  const ids: string[] = [];
  for (const buyer of [0, 1]) ids.push((await sale.participate(sale.buyer(buyer), 5n * UNIT)).id);
  sale.app.clock.advance(25 * HOURS);
  const next = async () => {
    const rows = await listExpired(db, 'ethereum_sepolia', { clock, defaultHours: 24 }, 1);
    await postponeRows(
      db,
      rows.map(({ id }) => id),
      60,
    );
    return rows.map(({ id }) => id);
  };
  expect([...(await next()), ...(await next())].sort()).toEqual(ids.sort());
  expect(await next()).toEqual([]);
  await saleWorker(sale).settle();
  for (const id of ids) expect(await sale.reasonOf(id)).toBe('expired');
});

describe('a limited supply', () => {
  const limitSupply = (tokens: string | null) =>
    sql`update offer_options set price_usd = 2, total_token_supply = ${tokens} where id = ${sale.option}`.execute(
      sale.app.ctx.db,
    );

  test('is sold exactly once to 60 rows whose approvals are mined together', async () => {
    const reserved = await sql<{ sum: string }>`
      select coalesce(sum(amount / coalesce(price_usd, 2)), 0)::text as sum from participations
      where offer_option_id = ${sale.option} and status in ('pending', 'submitted', 'completed')`.execute(
      sale.app.ctx.db,
    );
    await limitSupply(String(10n + BigInt(Math.round(Number(reserved.rows[0]?.sum) / 1e6))));
    sale.pauseMining();
    for (let i = 0; i < 60; i++) {
      const buyer = sale.buyer(i % 5);
      const hash = await buyer.approve(1_000n * UNIT + BigInt(i));
      await sql`
        insert into participations (id, partner_id, user_id, offer_id, offer_option_id, status, amount, asset_id, asset_code,
          asset_name, asset_digits, chain, wallet_address, fund_address, token_address, approval_hash, prepared_at,
          inserted_at, updated_at, price_usd)
        select gen_random_uuid(), partner_id, user_id, offer_id, offer_option_id, 'prepared', ${String(2n * UNIT)}, asset_id,
          asset_code, asset_name, asset_digits, chain, ${buyer.address}, fund_address, token_address,
          ${Buffer.from(hash.slice(2), 'hex')}, now(), ${new Date(sale.app.clock.now()).toISOString()}, now(), 2
        from participations limit 1`.execute(sale.app.ctx.db);
    }
    await sale.mine(1);
    sale.resumeMining();
    const workers = [saleWorker(sale), saleWorker(sale)];
    await workers[0]?.settle();
    await workers[1]?.settle();
    await workers[0]?.settle();
    const { rows } = await sql<{ status: string; reason: string | null; count: number }>`
      select status, reason, count(*)::int as count from participations
      where amount = ${String(2n * UNIT)} group by status, reason order by status`.execute(sale.app.ctx.db);
    expect(rows).toEqual([
      { status: 'completed', reason: null, count: 10 },
      { status: 'failed', reason: 'sold_out', count: 50 },
    ]);
    await limitSupply(null);
  });
});

test('a participation is refused if the offer is closed while it is checked', async () => {
  const hash = await sale.buyer(3).approve(5n * UNIT);
  const closedAt = new Date(sale.app.clock.now() - 1000).toISOString();
  const reply = await sale.app.ctx.db.transaction().execute(async (tx) => {
    await sql`update offers set closed_at = ${closedAt} where slug = ${sale.offer.slug}`.execute(tx);
    const request = sale.request(sale.buyer(3), 5n * UNIT, hash);
    const pending = sale.person.call('POST', '/v1/participations', request);
    // The request waits for the lock on the offer, which this transaction holds.
    const isDone = await Promise.race([pending.then(() => true), sleep(500).then(() => false)]);
    expect(isDone).toBe(false);
    return { pending };
  });
  expect((await reply.pending).body.code).toBe('offer_ended');
});

test('an offer that is closed and reopened amid participations refuses some and settles all others', async () => {
  const { ctx } = sale.app;
  const participate = async (n: number) => {
    const buyer = sale.buyer(n % 4);
    const hash = await buyer.approve(1_000n * UNIT + BigInt(n));
    return () => sale.person.call('POST', '/v1/participations', sale.request(buyer, 7n * UNIT, hash));
  };
  const requests: Awaited<ReturnType<typeof participate>>[] = [];
  for (let n = 0; n < 24; n++) requests.push(await participate(n));
  const answers = requests.slice(0, 20).map((request) => request());
  await Promise.any(answers);
  await closeOffer(ctx, sale.offer.slug, 'mistake');
  const late = await requests[20]?.();
  expect(late?.body.code).toBe('offer_ended');
  const settled = await Promise.all(answers);
  const accepted = settled.filter(({ status }) => status === 200).map(({ body }) => String(body.id));
  const refused = settled.filter(({ status }) => status !== 200).map(({ body }) => body.code);
  expect(new Set(refused)).toEqual(new Set(refused.length === 0 ? [] : ['offer_ended']));
  await saleWorker(sale).settle();
  for (const id of accepted) expect(await sale.statusOf(id)).toBe('completed');

  await reopenOffer(ctx, sale.offer.slug, 'mistake');
  await expect.poll(async () => (await requests[21]?.())?.status).toBe(200);
  await saleWorker(sale).settle();
  await expectDatabaseToMatchFund(sale);
});
