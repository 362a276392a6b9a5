import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { type TestApp, testApp } from '../../../test/support/app.ts';
import { validFiles } from '../../../test/support/offer-files.ts';
import { ADDRESS, makeOffer, saleFile, tokenizedFile } from '../../../test/support/offers.ts';
import { makeClient } from '../../../test/support/tokens.ts';
import { readOfferBySlug } from '../offers/store.ts';
import { applyOffers, OfferRefusedError, planOffers } from './apply.ts';
import { definitionFromOffer, definitionToFile } from './definition.ts';
import { listOfferPartners } from './definition-store.ts';
import { parseOfferFile } from './file.ts';
import type { OfferFile } from './file-schema.ts';

let one: TestApp;

beforeAll(async () => {
  one = await testApp();
  for (const clientId of ['partner-one', 'partner-two']) await makeClient(one.ctx, { clientId });
});
afterAll(() => one.close());

/** Returns every row of every offer table, with the transaction that wrote the row. */
async function snapshot(): Promise<string> {
  const tables = [
    'assets',
    'offers',
    'offer_options',
    'requirements',
    'offer_partners',
    'offer_funding_assets',
    'offer_contracts',
    'offer_funding_tokens',
  ];
  const parts = await Promise.all(
    tables.map((table) =>
      sql<{
        rows: unknown;
      }>`select json_agg(json_build_array(t.xmin::text, t) order by t::text) as rows from ${sql.table(table)} t`.execute(
        one.ctx.db,
      ),
    ),
  );
  return JSON.stringify(parts.map(({ rows }) => rows));
}

const option = (slug: string, change: Partial<OfferFile['options'][number]> = {}) =>
  ({ ...saleFile().options[0], slug, ...change }) as OfferFile['options'][number];

async function refusal(work: Promise<unknown>): Promise<readonly string[]> {
  return work.then(
    () => [],
    (error: unknown) => {
      if (error instanceof OfferRefusedError) return error.refusals;
      throw error;
    },
  );
}

describe('applying a file', () => {
  test('twice writes no row the second time', async () => {
    const file = saleFile({ slug: 'twice' });
    await applyOffers(one.ctx, [file]);
    const before = await snapshot();
    const [plan] = await applyOffers(one.ctx, [file]);
    expect(plan).toEqual({ slug: 'twice', isNew: false, changes: [], refusals: [] });
    expect(await snapshot()).toBe(before);
  });

  test('can be planned without writing anything', async () => {
    const file = saleFile({ slug: 'planned' });
    const before = await snapshot();
    const [plan] = await planOffers(one.ctx, [file]);
    expect(plan).toMatchObject({ slug: 'planned', isNew: true });
    expect(plan?.changes).toContainEqual({ path: 'options.standard.price_usd', from: null, to: '1.50' });
    expect(await snapshot()).toBe(before);
  });

  test('lists every changed value with its old and new text', async () => {
    await applyOffers(one.ctx, [saleFile({ slug: 'changing', options: [option('a'), option('b')] })]);
    const wallet = { type: 'whitelisted_wallet', details: { max_wallets: 3 } } as const;
    const next = saleFile({
      slug: 'changing',
      tagline: 'New',
      partners: ['partner-one', 'partner-two'],
      options: [option('b', { price_usd: null }), option('a', { requirements: [wallet] })],
    });
    const [plan] = await planOffers(one.ctx, [next]);
    expect(plan?.changes).toEqual([
      { path: 'tagline', from: 'A part of the harbour', to: 'New' },
      {
        path: 'partners',
        from: expect.stringContaining('partner-one'),
        to: expect.stringContaining('partner-two'),
      },
      { path: 'options', from: 'a, b', to: 'b, a' },
      { path: 'options.a.requirements', from: '', to: 'whitelisted_wallet' },
      { path: 'options.b.price_usd', from: '1.50', to: null },
      { path: 'options.a.requirements.whitelisted_wallet', from: null, to: '{"max_wallets":3}' },
    ]);
  });

  test('keeps the ids of options and requirements whose keys stay', async () => {
    const wallets = (max_wallets: number) =>
      ({ type: 'whitelisted_wallet', details: { max_wallets } }) as const;
    const first = saleFile({
      slug: 'ids',
      options: [option('a', { requirements: [wallets(3)] }), option('b')],
    });
    const before = await makeOffer(one.ctx, first);
    const second = saleFile({
      slug: 'ids',
      name: 'Renamed',
      options: [
        option('c'),
        option('a', { price_usd: '9', requirements: [{ type: 'kyc_approved', details: null }, wallets(5)] }),
      ],
    });
    const after = await makeOffer(one.ctx, second);
    const previous = before.options[0];
    expect(after.id).toBe(before.id);
    expect(after.inserted_at).toBe(before.inserted_at);
    expect(after.options.map(({ slug }) => slug)).toEqual(['c', 'a']);
    expect(after.options[1]).toMatchObject({ id: previous?.id, price_usd: '9' });
    expect(after.options[1]?.requirements[1]).toEqual({
      ...previous?.requirements[0],
      details: { max_wallets: 5 },
    });
  });

  test('is all or nothing for several files', async () => {
    const before = await snapshot();
    const files = [saleFile({ slug: 'fine' }), saleFile({ slug: 'not-fine', partners: ['nobody'] })];
    expect(await refusal(applyOffers(one.ctx, files))).toEqual([
      'not-fine: partners: partner nobody not found',
    ]);
    expect(await snapshot()).toBe(before);
    const same = [saleFile({ slug: 'fine' }), saleFile({ slug: 'fine' })];
    expect(await refusal(applyOffers(one.ctx, same))).toEqual(['fine: more than one file has this slug']);
  });

  test('is refused if the offer has changed since the reviewed plan', async () => {
    const file = saleFile({ slug: 'shown', tagline: 'Mine' });
    const reviewed = await planOffers(one.ctx, [file]);
    await applyOffers(one.ctx, [saleFile({ slug: 'shown', tagline: 'Someone else’s' })]);
    expect(await refusal(applyOffers(one.ctx, [file], { reviewed }))).toEqual([
      expect.stringContaining('have changed since the diff was shown'),
    ]);
    expect((await readOfferBySlug(one.ctx.db, 'shown'))?.tagline).toBe('Someone else’s');
  });

  test('twenty times at once creates one offer', async () => {
    const file = saleFile({ slug: 'raced' });
    const plans = await Promise.all(Array.from({ length: 20 }, () => applyOffers(one.ctx, [file])));
    expect(plans.filter(([plan]) => plan?.isNew)).toHaveLength(1);
    expect(plans.filter(([plan]) => plan?.changes.length === 0)).toHaveLength(19);
  });

  test('finds partners by name, client id and id, and refuses an ambiguous name', async () => {
    const partners = ['Partner partner-one', 'partner-one', '01890000-0000-7000-8000-000000000001'];
    const offer = await makeOffer(one.ctx, saleFile({ slug: 'by-name' }));
    await applyOffers(one.ctx, [saleFile({ slug: 'by-name', partners })]);
    expect(await listOfferPartners(one.ctx.db, offer.id)).toHaveLength(1);
    await sql`insert into partners (id, name) values (gen_random_uuid(), 'Twin'), (gen_random_uuid(), 'Twin')`.execute(
      one.ctx.db,
    );
    expect(await refusal(applyOffers(one.ctx, [saleFile({ slug: 'by-name', partners: ['Twin'] })]))).toEqual([
      'by-name: partners: more than one partner is named Twin; use a client id',
    ]);
  });

  test('needs each asset defined once, in any file', async () => {
    const unknown = saleFile({ slug: 'no-asset', asset: 'undefined-asset' });
    expect(await refusal(applyOffers(one.ctx, [unknown]))).toEqual([
      'no-asset: assets: asset undefined-asset not found; define it under assets',
    ]);
    await applyOffers(one.ctx, [saleFile({ slug: 'known-asset', assets: {} })]);
    expect((await readOfferBySlug(one.ctx.db, 'known-asset'))?.asset.code).toBe('HBR');
  });

  test('refuses two offers with one symbol for one partner, unless one has ended', async () => {
    await applyOffers(one.ctx, [tokenizedFile({ slug: 'stock-1' })]);
    expect(await refusal(applyOffers(one.ctx, [tokenizedFile({ slug: 'stock-2' })]))).toEqual([
      'stock-2: symbol: stock-1 already trades HBRon for the same partner',
    ]);
    await applyOffers(one.ctx, [tokenizedFile({ slug: 'stock-2', partners: ['partner-two'] })]);
    await applyOffers(one.ctx, [tokenizedFile({ slug: 'stock-1', ends_at: '2020-01-01T00:00:00Z' })]);
    await applyOffers(one.ctx, [tokenizedFile({ slug: 'stock-3' })]);
  });
});

describe('an offer in use', () => {
  beforeAll(async () => {
    await sql`create table test_payments (id uuid primary key default gen_random_uuid(), offer_id uuid not null references offers,
      option_id uuid not null, foreign key (offer_id, option_id) references offer_options (offer_id, id))`.execute(
      one.ctx.db,
    );
  });
  const contracts = (change: object) => [{ ...saleFile().contracts[0], ...change }] as OfferFile['contracts'];

  test('only loses options that nothing references', async () => {
    const file = saleFile({ slug: 'used', options: [option('a'), option('b')] });
    const offer = await makeOffer(one.ctx, file);
    await sql`insert into test_payments (offer_id, option_id) values (${offer.id}, ${offer.options[0]?.id})`.execute(
      one.ctx.db,
    );
    const without = (slug: string) => saleFile({ slug: 'used', options: [option(slug)] });
    expect(await refusal(applyOffers(one.ctx, [without('b')]))).toEqual([
      'used: options.a: cannot be removed: in use by test_payments',
    ]);
    await applyOffers(one.ctx, [without('a')]);
  });

  test.each([
    ['asset', { asset: 'usd-coin' }],
    ['contracts.ethereum_sepolia.address', { contracts: contracts({ address: ADDRESS.swap }) }],
    ['contracts.ethereum_sepolia', { contracts: contracts({ chain: 'base_sepolia' }) }],
    [
      'contracts.ethereum_sepolia.funding_tokens.usd-coin',
      { contracts: contracts({ funding_tokens: [{ asset: 'usd-coin', address: ADDRESS.asset }] }) },
    ],
    [
      'funding_assets.usd-coin',
      {
        funding_assets: ['harbour'],
        contracts: contracts({ funding_tokens: [{ asset: 'harbour', address: ADDRESS.usdc }] }),
      },
    ],
  ] as const)('can change %s only until there are payments', async (path, change) => {
    const slug = `money-${path.replaceAll(/[._]/g, '-')}`;
    const file = saleFile({ slug });
    const changed = saleFile({ slug, ...(change as Partial<OfferFile>) });
    await makeOffer(one.ctx, file);
    await applyOffers(one.ctx, [changed]);
    await applyOffers(one.ctx, [file]);
    const offer = await makeOffer(one.ctx, file);
    await sql`insert into test_payments (offer_id, option_id) values (${offer.id}, ${offer.options[0]?.id})`.execute(
      one.ctx.db,
    );
    expect(await refusal(applyOffers(one.ctx, [changed]))).toContain(
      `${slug}: ${path}: cannot be changed: in use by test_payments`,
    );
    await applyOffers(one.ctx, [saleFile({ slug, tagline: 'texts can always change' })]);
  });

  test('can get another chain while there are payments', async () => {
    const file = saleFile({ slug: 'grows' });
    const offer = await makeOffer(one.ctx, file);
    await sql`insert into test_payments (offer_id, option_id) values (${offer.id}, ${offer.options[0]?.id})`.execute(
      one.ctx.db,
    );
    await applyOffers(one.ctx, [
      saleFile({ slug: 'grows', contracts: [...file.contracts, ...contracts({ chain: 'base_sepolia' })] }),
    ]);
  });

  test('with bound wallets can change its contract but not drop whitelisted_wallet', async () => {
    const wallets = { type: 'whitelisted_wallet', details: { max_wallets: 3 } } as const;
    const file = saleFile({ slug: 'bound', options: [option('a', { requirements: [wallets] })] });
    const offer = await makeOffer(one.ctx, file);
    await bindWallet(offer.options[0]?.id);
    await applyOffers(one.ctx, [{ ...file, contracts: contracts({ address: ADDRESS.swap }) }]);
    const unrestricted = saleFile({ slug: 'bound', options: [option('a')] });
    expect(await refusal(applyOffers(one.ctx, [unrestricted]))).toContain(
      'bound: options.a.requirements.whitelisted_wallet: cannot be removed: in use by option_addresses',
    );
  });

  test('keeps the fractional digits of its assets', async () => {
    const assets = {
      'usd-coin': { code: 'USDC', name: 'USD Coin', fractional_digits: 8, transfers: 'exact' },
    } as const;
    expect(await refusal(applyOffers(one.ctx, [saleFile({ slug: 'digits', assets })]))).toEqual([
      expect.stringContaining('digits: assets.usd-coin.fractional_digits: cannot be changed: used by'),
    ]);
  });
});

/** Binds a new user's wallet to the option. */
async function bindWallet(optionId: string | undefined): Promise<void> {
  const id = '01890000-0000-7000-8000-0000000000cc';
  await sql`insert into users (id, email, kind) values (${id}, 'bound@example.test', 'person')`.execute(
    one.ctx.db,
  );
  await sql`
    insert into option_addresses (id, option_id, user_id, protocol, address, partner_id, proved_chain, proved_at, created_at)
    select ${id}, ${optionId}, ${id}, 'ethereum', ${ADDRESS.usdc}, id, 'ethereum_sepolia', now(), now() from partners limit 1`.execute(
    one.ctx.db,
  );
}

test('any valid file can be applied twice and exported without a change', async () => {
  let count = 0;
  await fc.assert(
    fc.asyncProperty(validFiles(), async (generated) => {
      const file = {
        ...generated,
        slug: `any-${count++}`,
        ...(generated.symbol !== null && { symbol: `S${count}` }),
      };
      const parsed = parseOfferFile(stringify(file), { name: 'any.yaml' });
      await applyOffers(one.ctx, [parsed]);
      const [again] = await planOffers(one.ctx, [parsed]);
      expect(again).toMatchObject({ isNew: false, changes: [], refusals: [] });
      const stored = await readOfferBySlug(one.ctx.db, parsed.slug);
      if (stored === null) throw new Error('offer not stored');
      const exported = stringify(
        definitionToFile(definitionFromOffer(stored, await listOfferPartners(one.ctx.db, stored.id))),
      );
      const [same] = await planOffers(one.ctx, [parseOfferFile(exported, { name: 'exported.yaml' })]);
      expect(same).toMatchObject({ changes: [], refusals: [] });
    }),
    { numRuns: 40 },
  );
});
