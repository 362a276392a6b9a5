import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type TestApp, testApp } from '../../../test/support/app.ts';
import { makeOffer, saleFile, tokenizedFile } from '../../../test/support/offers.ts';
import { makeClient, makeUser, partnerOf, USER } from '../../../test/support/tokens.ts';
import { lockOptions } from '../offers/offer.ts';
import { readOfferBySlug } from '../offers/store.ts';
import { applyOffers, OfferRefusedError, planOffers } from './apply.ts';
import type { OfferFile } from './file-schema.ts';

let one: TestApp;
beforeAll(async () => {
  one = await testApp();
  await makeClient(one.ctx);
  await makeUser(one.ctx);
});
afterAll(() => one.close());

type Requirements = OfferFile['options'][number]['requirements'];
const KYC: Requirements = [{ type: 'kyc_approved', details: null }];
const option = (requirements: Requirements) => [{ slug: 'standard', requirements }] as OfferFile['options'];

async function refusal(work: Promise<unknown>): Promise<readonly string[]> {
  return work.then(
    () => [],
    (error: unknown) => {
      if (error instanceof OfferRefusedError) return error.refusals;
      throw error;
    },
  );
}

describe('in production', () => {
  const apply = (file: OfferFile) => {
    const config = { ...one.ctx.config, profile: 'production' as const };
    return refusal(applyOffers({ ...one.ctx, config }, [file]));
  };

  test.each([
    ['no requirements', []],
    ['no identity requirement', [{ type: 'document', details: { document_type: 'tax_certification' } }]],
  ] as [string, Requirements][])('an option with %s is refused', async (_name, requirements) => {
    for (const file of [saleFile, tokenizedFile])
      expect(await apply(file({ slug: 'anyone', options: option(requirements) }))).toEqual([
        expect.stringMatching(/^anyone: options\.standard\.requirements: has no identity requirement/),
      ]);
  });

  test('an option with an identity requirement is applied, and one without it only if the file allows it', async () => {
    expect(await apply(saleFile({ slug: 'identified', options: option(KYC) }))).toEqual([]);
    expect(await apply(saleFile({ slug: 'opened', open_to_anyone: true }))).toEqual([]);
    expect((await readOfferBySlug(one.ctx.db, 'opened'))?.open_to_anyone).toBe(true);
    expect(await apply(saleFile({ slug: 'opened' }))).toEqual([
      expect.stringContaining('set open_to_anyone: true in the file'),
    ]);
  });
});

describe('an allow-list contract', () => {
  const list = `0x${'77'.repeat(20)}`;
  const file = (slug: string, requirements: Requirements, change: Partial<OfferFile> = {}) => {
    const base = tokenizedFile({ slug, symbol: slug, options: option(requirements), ...change });
    return { ...base, contracts: base.contracts.map((contract) => ({ ...contract, allow_list: list })) };
  };
  const reject = (...regions: string[]): Requirements[number] => ({
    ...{
      type: 'jurisdiction',
      details: { filter_type: 'reject', filters: [{ country_iso_2: 'US', regions }] },
    },
  });

  test('cannot be shared by offers with different requirements, ended ones included', async () => {
    await applyOffers(one.ctx, [file('first', [...KYC, reject('NY')], { ends_at: '2020-01-01T00:00:00Z' })]);
    for (const requirements of [[], KYC, [...KYC, reject('TX')]])
      expect(await refusal(applyOffers(one.ctx, [file('second', requirements)]))).toEqual([
        expect.stringMatching(/^second: contracts: first has the same allow-list but different requirements/),
      ]);
    expect(await readOfferBySlug(one.ctx.db, 'second')).toBeNull();
  });

  test('can be shared by offers that differ only in wallets and order, or change together', async () => {
    const wallets = { type: 'whitelisted_wallet', details: { max_wallets: 2 } } as const;
    await applyOffers(one.ctx, [file('second', [wallets, reject('NY'), ...KYC])]);
    expect(await refusal(applyOffers(one.ctx, [file('second', KYC)]))).toHaveLength(1);
    await applyOffers(one.ctx, [file('second', KYC), file('first', KYC)]);
    expect((await planOffers(one.ctx, [file('first', KYC)])).flatMap(({ refusals }) => refusals)).toEqual([]);
  });
});

describe('the price of an option', () => {
  const at = (price_usd: string) =>
    saleFile({ slug: 'priced', options: [{ slug: 'standard', price_usd }] as OfferFile['options'] });

  async function insertParticipation(db: TestApp['ctx']['db'], status: string): Promise<void> {
    const offer = await readOfferBySlug(db, 'priced');
    const address = `0x${'11'.repeat(20)}`;
    await sql`insert into participations (id, partner_id, user_id, offer_id, offer_option_id, status, amount, asset_id,
        asset_code, asset_name, asset_digits, chain, wallet_address, fund_address, token_address, approval_hash,
        prepared_at, inserted_at, updated_at)
      values (gen_random_uuid(), ${partnerOf('partner-one')}, ${USER}, ${offer?.id}, ${offer?.options[0]?.id}, ${status}, 5,
        'usd-coin', 'USDC', 'USD Coin', 6, 'ethereum_sepolia', ${address}, ${address}, ${address},
        sha256(random()::text::bytea), now(), now(), now())`.execute(db);
  }

  test('can change until a participation is on its way, and after it has ended', async () => {
    await makeOffer(one.ctx, at('1.50'));
    await applyOffers(one.ctx, [at('2')]);
    await insertParticipation(one.ctx.db, 'pending');
    expect(await refusal(applyOffers(one.ctx, [at('3')]))).toEqual([
      'priced: options.standard.price_usd: cannot be changed: in use by participations in progress',
    ]);
    await applyOffers(one.ctx, [at('2.00')]);
    await sql`update participations set status = 'failed'`.execute(one.ctx.db);
    await applyOffers(one.ctx, [at('3')]);
  });

  test('waits for a participation that is being created, and then stays', async () => {
    const offer = await makeOffer(one.ctx, at('3'));
    const tx = await one.ctx.db.startTransaction().execute();
    await lockOptions(tx, offer.id, partnerOf('partner-one'), one.ctx.clock);
    const applied = refusal(applyOffers(one.ctx, [at('4')]));
    const isWaiting = sql<{ n: number }>`select count(*)::int as n from pg_locks where not granted`;
    while ((await isWaiting.execute(one.ctx.db)).rows[0]?.n === 0) await sleep(5);
    await insertParticipation(tx, 'prepared');
    await tx.commit().execute();
    expect(await applied).toEqual([expect.stringContaining('price_usd: cannot be changed')]);
  });
});

describe('the description of an asset', () => {
  const described = (slug: string, name: string) =>
    saleFile({
      ...{ slug, asset: 'described', funding_assets: ['usd-coin'] },
      assets: {
        described: { code: 'DSC', name, fractional_digits: 18, transfers: 'exact' },
        'usd-coin': { code: 'USDC', name: 'USD Coin', fractional_digits: 6, transfers: 'exact' },
      },
    });

  test('changes for other offers only if the operator says so, or their files agree', async () => {
    await applyOffers(one.ctx, [described('one', 'Old'), described('two', 'Old')]);
    expect(await refusal(applyOffers(one.ctx, [described('one', 'New')]))).toEqual([
      'one: assets.described.name: would also change for two; pass --change-assets to allow this',
    ]);
    await applyOffers(one.ctx, [described('one', 'New'), described('two', 'New')]);
    await applyOffers(one.ctx, [described('one', 'Newer')], { sharedAssets: 'change' });
    expect((await readOfferBySlug(one.ctx.db, 'two'))?.asset.name).toBe('Newer');
  });

  test('keeps how its transfers change amounts: other files cannot fund an offer with it', async () => {
    const token = (transfers: 'exact' | 'rebasing') =>
      ({ code: 'STK', name: 'Staked', fractional_digits: 6, transfers }) as const;
    const usdc = { code: 'USDC', name: 'USD Coin', fractional_digits: 6, transfers: 'exact' } as const;
    const sells = (transfers: 'exact' | 'rebasing') =>
      saleFile({ slug: 'sells', asset: 'staked', assets: { staked: token(transfers), 'usd-coin': usdc } });
    const funded = saleFile({
      ...{ slug: 'funded', funding_assets: ['staked'], asset: 'described', assets: {} },
      contracts: [],
    });
    await applyOffers(one.ctx, [sells('rebasing')]);
    expect(await refusal(applyOffers(one.ctx, [funded]))).toEqual([
      'funded: funding_assets: staked cannot fund an offer: its transfers are "rebasing", not "exact"',
    ]);
    await applyOffers(one.ctx, [sells('exact')]);
    await applyOffers(one.ctx, [funded]);
    expect(await refusal(applyOffers(one.ctx, [sells('rebasing')]))).toEqual([
      'sells: assets.staked.transfers: cannot be changed: the asset funds funded',
    ]);
  });
});
