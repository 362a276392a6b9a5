import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, describe, expect, test } from 'vitest';
import { saleWorker, UNIT } from '../../../test/support/sale.ts';
import { useSale } from '../../../test/support/settlement.ts';
import { partnerOf } from '../../../test/support/tokens.ts';

const sale = useSale();
afterAll(() => sale.resumeMining());

/** Limits the option to `tokens` at 2 USD each, and waits until the catalogue shows the limit. */
async function limitSupply(tokens: string | null): Promise<void> {
  const { ctx } = sale.app;
  await sql`update offer_options set price_usd = 2, total_token_supply = ${tokens} where id = ${sale.option}`.execute(
    ctx.db,
  );
  const known = async () => {
    const { byKey } = await ctx.offers.of(partnerOf('partner-one'));
    return byKey.get(sale.offer.id)?.options.find(({ id }) => id === sale.option)?.total_token_supply;
  };
  while ((await known()) !== tokens) await sleep(2);
}

const invest = async (buyer: number, units: bigint, hash?: `0x${string}`) =>
  sale.person.call(
    'POST',
    '/v1/participations',
    sale.request(sale.buyer(buyer), units * UNIT, hash ?? (await sale.buyer(buyer).approve(units * UNIT))),
  );

describe('a limited supply', () => {
  test('refuses more than is left and names what remains, before it checks the approval', async () => {
    await limitSupply('5');
    expect((await invest(0, 4n)).body.status).toBe('pending');
    const more = await invest(1, 7n);
    expect(more).toMatchObject({ status: 409, body: { code: 'sold_out', errors: { remaining: '6000000' } } });
    const unapproved = await invest(1, 7n, `0x${'ab'.repeat(32)}`);
    expect(unapproved.body.code).toBe('sold_out');
    const answers = await Promise.all([1, 2, 3, 4].map((buyer) => invest(buyer, 2n)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 409]);
    const last = await invest(5, 1n);
    expect(last.body).toMatchObject({
      code: 'sold_out',
      errors: { remaining: '0', checks: [{ code: 'supply', status: 'rejected' }] },
    });
    await limitSupply(null);
  });

  test('is not reserved by participations whose approval is not mined', async () => {
    const { rows } = await sql<{ tokens: string }>`
      select (sum(amount) / 2000000 + 1)::int::text as tokens from participations
      where status <> 'prepared'`.execute(sale.app.ctx.db);
    await limitSupply(rows[0]?.tokens ?? '0');
    sale.pauseMining();
    for (const buyer of [0, 1]) expect((await invest(buyer, 2n)).body.status).toBe('prepared');
    sale.resumeMining();
    await sale.mine(1);
    await limitSupply(null);
    await sql`update participations set status = 'failed' where status = 'prepared'`.execute(sale.app.ctx.db);
  });
});

test('the counted supply is the sum of the rows that reserve some, whatever changes them', async () => {
  const { db } = sale.app.ctx;
  const counted = async () => {
    const { rows } = await sql<{ counted: string; summed: string }>`
      select (select coalesce(sum(amount), 0) from reserved_supply)::text as counted,
        (select coalesce(sum(amount), 0) from participations where status not in ('prepared', 'failed', 'remitted')
          and (status <> 'pending' or frozen_reason is null))::text as summed`.execute(db);
    expect(rows[0]?.counted).toBe(rows[0]?.summed);
    return BigInt(rows[0]?.counted ?? 0);
  };
  const before = await counted();
  const { body } = await invest(5, 3n);
  expect(body.status).toBe('pending');
  expect(await counted()).toBe(before + 3n * UNIT);
  await sql`update participations set frozen_reason = 'hold' where status = 'pending'`.execute(db);
  expect(await counted()).toBe(0n);
  await sql`update participations set frozen_reason = null, price_usd = price_usd + 1`.execute(db);
  expect(await counted()).toBe(before + 3n * UNIT);
  await saleWorker(sale).settle();
  await sale.mine(3);
  await saleWorker(sale).settle();
  const settled = await counted();
  await sql`update participations set status = 'failed' where id = ${String(body.id)}`.execute(db);
  expect(await counted()).toBe(settled - 3n * UNIT);
});

test('an approval is free again if the supply is gone once it is mined', async () => {
  sale.pauseMining();
  const hash = await sale.buyer(0).approve(2n * UNIT);
  const { body } = await invest(0, 2n, hash);
  expect(body.status).toBe('prepared');
  await limitSupply('0.000001');
  sale.resumeMining();
  await sale.mine(1);
  await saleWorker(sale).settle();
  expect(await sale.reasonOf(String(body.id))).toBe('sold_out');
  await limitSupply(null);
  const smaller = await invest(0, 1n, hash);
  expect(smaller).toMatchObject({ status: 200, body: { status: 'pending' } });
  await saleWorker(sale).settle();
});

describe('prepared participations', () => {
  test('are limited to five per user, even for concurrent requests', async () => {
    sale.pauseMining();
    const hashes: `0x${string}`[] = [];
    for (let i = 0; i < 8; i++) hashes.push(await sale.buyer(i % 4).approve(BigInt(10 + i) * UNIT));
    const answers = await Promise.all(hashes.map((hash, i) => invest(i % 4, BigInt(10 + i), hash)));
    const codes = answers.map(({ body }) => body.code ?? body.status).sort();
    expect(codes).toEqual([...Array(5).fill('prepared'), ...Array(3).fill('too_many_prepared')]);
    const refused = answers.find(({ status }) => status !== 200);
    expect(refused?.status).toBe(409);
    // Repeating a successful request returns the same participation.
    const first = answers.findIndex(({ status }) => status === 200);
    expect(await invest(first % 4, BigInt(10 + first), hashes[first])).toEqual(answers[first]);
    sale.resumeMining();
    await sale.mine(1);
  });
});
