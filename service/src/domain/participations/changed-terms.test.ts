import { sql } from 'kysely';
import type { Hex } from 'viem';
import { afterEach, describe, expect, test } from 'vitest';
import { saleOfferFile, saleWorker, UNIT } from '../../../test/support/sale.ts';
import { useSale } from '../../../test/support/settlement.ts';
import { applyOffers } from '../offer-files/apply.ts';
import type { OfferFile } from '../offer-files/file-schema.ts';

const sale = useSale();
afterEach(() => sale.resumeMining());

type Terms = Partial<OfferFile['options'][number]> & { fund?: Hex };

/** Creates or changes a sale with one option. Each test has a sale of its own. */
async function applyTerms(slug: string, { fund, ...option }: Terms) {
  const file = saleOfferFile(sale.chain.deployment, fund);
  const [first] = file.options;
  await applyOffers(sale.app.ctx, [{ ...file, slug, options: [{ ...first, ...option }] as never }]);
  await sql`update offers set published_at = now() where slug = ${slug} and published_at is null`.execute(
    sale.app.ctx.db,
  );
  const { rows } = await sql<{ offer_id: string; offer_option_id: string }>`
    select offer_id, p.id as offer_option_id from offer_options p join offers o on o.id = p.offer_id
    where o.slug = ${slug}`.execute(sale.app.ctx.db);
  const ids = rows[0];
  if (ids === undefined) throw new Error(`there is no offer ${slug}`);
  const known = async () => (await sale.person.call('GET', `/v1/offers/${slug}`)).status;
  await expect.poll(known).toBe(200);
  return ids;
}

/** Sends a request, and makes a change right before the node returns the receipt of the approval. */
async function investDuring(
  ids: { offer_id: string; offer_option_id: string },
  amount: bigint,
  change: () => Promise<unknown>,
) {
  const buyer = sale.buyer(0);
  const hash = await buyer.approve(amount);
  const { chain } = sale.chain;
  const { request } = chain;
  chain.request = async (args) => {
    if (args.method === 'eth_getTransactionReceipt') {
      chain.request = request;
      await change();
    }
    return request(args);
  };
  const body = { ...sale.request(buyer, amount, hash), ...ids };
  return sale.person.call('POST', '/v1/participations', body);
}

describe('an offer that changes while a request is in flight', () => {
  test('gives the participation the new price', async () => {
    const ids = await applyTerms('new-price', { price_usd: '1' });
    const { body } = await investDuring(ids, UNIT, () => applyTerms('new-price', { price_usd: '4' }));
    expect(body.status).toBe('pending');
    const { rows } = await sql<{ price_usd: string }>`
      select price_usd::text from participations where id = ${String(body.id)}`.execute(sale.app.ctx.db);
    expect(rows).toEqual([{ price_usd: '4' }]);
  });

  test('refuses an approval for its former fund', async () => {
    const ids = await applyTerms('new-fund', {});
    const fund = sale.chain.deployment.sale_funds.other;
    const { body } = await investDuring(ids, UNIT, () => applyTerms('new-fund', { fund }));
    expect(body).toMatchObject({ code: 'approval_invalid', errors: { reason: 'spender' } });
  });

  test('keeps to the new cap', async () => {
    const ids = await applyTerms('new-cap', { price_usd: '1', total_token_supply: '1000' });
    const { body } = await investDuring(ids, 500n * UNIT, () =>
      applyTerms('new-cap', { price_usd: '1', total_token_supply: '10' }),
    );
    expect(body).toMatchObject({ code: 'sold_out', errors: { remaining: '10000000' } });
  });

  test('is not found once it is taken from the partner', async () => {
    const ids = await applyTerms('taken', {});
    const { status, body } = await investDuring(ids, UNIT, () =>
      sql`delete from offer_partners where offer_id = ${ids.offer_id}`.execute(sale.app.ctx.db),
    );
    expect([status, body.code]).toEqual([404, 'not_found']);
  });

  test('keeps to the new minimum purchase', async () => {
    const ids = await applyTerms('new-minimum', {});
    const { body } = await investDuring(ids, UNIT, () =>
      applyTerms('new-minimum', { minimum_purchase_usd: '2' }),
    );
    expect(body.code).toBe('validation_failed');
  });
});

test('a prepared participation reserves nothing above a cap that was lowered before', async () => {
  const ids = await applyTerms('lowered', { price_usd: '1', total_token_supply: '1000' });
  sale.pauseMining();
  const hash = await sale.buyer(1).approve(500n * UNIT);
  const request = { ...sale.request(sale.buyer(1), 500n * UNIT, hash), ...ids };
  const { body } = await sale.person.call('POST', '/v1/participations', request);
  expect(body.status).toBe('prepared');
  await sale.mine(1);
  const { db } = sale.app.ctx;
  const other = await db.startTransaction().execute();
  await sql`select pg_advisory_xact_lock(hashtextextended(${`supply ${ids.offer_option_id}`}, 0))`.execute(
    other,
  );
  const round = saleWorker(sale).settle();
  const isWaiting = async () =>
    (await sql`select from pg_locks where locktype = 'advisory' and not granted`.execute(db)).rows.length > 0;
  await expect.poll(isWaiting).toBe(true);
  let isLowered = false;
  const lowered = applyTerms('lowered', { price_usd: '1', total_token_supply: '10' }).then(() => {
    isLowered = true;
  });
  const isDecided = async () =>
    isLowered ||
    (
      await sql`select from pg_stat_activity where wait_event_type = 'Lock' and query ilike '%offer_options%'`.execute(
        db,
      )
    ).rows.length > 0;
  await expect.poll(isDecided).toBe(true);
  const wasLowered = isLowered;
  await other.rollback().execute();
  await Promise.all([round, lowered]);
  expect(await sale.statusOf(String(body.id))).toBe(wasLowered ? 'failed' : 'submitted');
});
