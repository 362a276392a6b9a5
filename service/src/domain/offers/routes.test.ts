import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/setup/database.ts';
import { type TestApp, testApp } from '../../../test/support/app.ts';
import { ADDRESS, makeOffer, saleFile, tokenizedFile } from '../../../test/support/offers.ts';
import { makeClient } from '../../../test/support/tokens.ts';
import { applyOffers } from '../offer-files/apply.ts';
import type { OfferFile } from '../offer-files/file-schema.ts';
import { closeOffer, publishOffer, reopenOffer } from '../offer-files/lifecycle.ts';

let database: TestDatabase;
let one: TestApp;
let token: string;

beforeAll(async () => {
  database = await createTestDatabase();
  one = await testApp({ databaseUrl: database.url });
  token = await one.tokenFor();
});
afterAll(async () => {
  await one.close();
  await database.drop();
});

async function get(path: string, bearer = token, headers: Record<string, string> = {}, { app } = one) {
  return app.inject({ url: path, headers: { authorization: `Bearer ${bearer}`, ...headers } });
}

/** Polls until the node has received the notification of a changed offer, which arrives on another connection. */
async function getUntil(
  path: string,
  isDone: (body: { data: { slug: string }[] }) => boolean,
  node = one,
  bearer = token,
) {
  for (;;) {
    const reply = await get(path, bearer, {}, node);
    if (isDone(reply.json())) return reply;
    await sleep(5);
  }
}

const full: Partial<OfferFile> = {
  slug: 'full-sale',
  about: 'A long story.',
  category: 'Real estate',
  starts_at: '2026-01-01T00:00:00.5+02:00',
  ends_at: '2027-01-01T00:00Z',
  terms: [{ key: 'Lock-up', value: '12 months' }],
  links: [{ label: 'Site', url: 'https://harbour.test/' }],
  faqs: [{ question: 'Why?', answer: 'Because.' }],
  milestones: [{ name: 'Dredging', schedule: 'Q3 2026', status: 'active' }],
};

describe('GET /v1/offers/{id}', () => {
  test('returns exactly the specified fields, by id and by slug', async () => {
    const offer = await makeOffer(one.ctx, saleFile(full));
    const option = {
      id: offer.options[0]?.id,
      slug: 'standard',
      price_usd: '1.50',
      floor_price_usd: null,
      bid_increment: null,
      minimum_purchase_usd: null,
      total_token_supply: null,
      sale_agreement_url: null,
    };
    const usdc = { id: 'usd-coin', code: 'USDC', name: 'USD Coin', fractional_digits: 6 };
    const summary = {
      id: offer.id,
      slug: 'full-sale',
      type: 'platform::token_sale',
      tagline: 'A part of the harbour',
      starts_at: '2025-12-31T22:00:00.500000Z',
      ends_at: '2027-01-01T00:00:00.000000Z',
      logo_url: 'https://assets.test/logo.svg',
      banner_url: 'https://assets.test/banner.svg',
      options: [option],
    };
    const details = {
      object: 'offer_details',
      ...summary,
      name: 'Harbour',
      about: 'A long story.',
      category: 'Real estate',
      asset: { id: 'harbour', code: 'HBR', name: 'Harbour', fractional_digits: 18 },
      funding_assets: [usdc],
      terms: full.terms,
      links: full.links,
      faqs: full.faqs,
      milestones: full.milestones,
      contracts: [
        {
          chain: 'ethereum_sepolia',
          kind: 'fund',
          address: ADDRESS.fund,
          asset_address: null,
          allow_list_address: null,
          funding_tokens: [{ asset_id: 'usd-coin', address: ADDRESS.usdc, decimals: 6 }],
        },
      ],
    };
    const list = await getUntil('/v1/offers', ({ data }) => data.some(({ slug }) => slug === 'full-sale'));
    expect(list.json().data.find(({ slug }: { slug: string }) => slug === 'full-sale')).toEqual({
      object: 'offer',
      ...summary,
    });
    expect((await get(`/v1/offers/${offer.id}`)).json()).toEqual(details);
    expect((await get('/v1/offers/full-sale')).json()).toEqual(details);
  });

  test('returns a tokenized swap without tagline and banner, with a swap contract', async () => {
    const offer = await makeOffer(one.ctx, tokenizedFile());
    await getUntil('/v1/offers', ({ data }) => data.some(({ slug }) => slug === 'harbour-stock'));
    const details = (await get(`/v1/offers/${offer.id}`)).json();
    expect(details).toMatchObject({ type: 'tokenized::swap', tagline: null, banner_url: null });
    expect(details.contracts[0]).toMatchObject({
      kind: 'swap',
      asset_address: ADDRESS.asset,
      allow_list_address: offer.contracts[0]?.allow_list ?? null,
    });
    expect(details).not.toHaveProperty('symbol');
  });

  test.each([
    ['an unknown id', '01890000-0000-7000-8000-00000000ffff'],
    ['a malformed id', 'NOT%20an%20id'],
    ['an overlong id', 'x'.repeat(300)],
    ['an unknown slug', 'no-such-offer'],
  ])('returns 404 for %s', async (_what, id) => {
    expect((await get(`/v1/offers/${id}`)).json().code).toBe('not_found');
    expect((await get(`/v1/offers/${id}/requirements`)).json().code).toBe('not_found');
  });

  test('returns 404 for an offer of another partner, by id and by slug, and does not list it', async () => {
    const theirs = await makeOffer(one.ctx, saleFile({ slug: 'theirs', partners: ['partner-two'] }));
    const stranger = await one.tokenFor({ clientId: 'partner-two' });
    await getUntil('/v1/offers', ({ data }) => data.length === 1, one, stranger);
    for (const path of [`/v1/offers/${theirs.id}`, '/v1/offers/theirs', '/v1/offers/theirs/requirements']) {
      expect((await get(path, stranger)).statusCode).toBe(200);
      expect((await get(path)).statusCode).toBe(404);
    }
    const { data } = (await get('/v1/offers?limit=100')).json();
    expect(data.map(({ slug }: { slug: string }) => slug)).not.toContain('theirs');
  });

  test('returns 404 for an unpublished offer', async () => {
    await applyOffers(one.ctx, [saleFile({ slug: 'secret' })]);
    expect((await get('/v1/offers/secret')).statusCode).toBe(404);
    await publishOffer(one.ctx, 'secret');
    await getUntil('/v1/offers?limit=100', ({ data }) => data.some(({ slug }) => slug === 'secret'));
    expect((await get('/v1/offers/secret')).statusCode).toBe(200);
  });

  test('still returns a closed offer, which ends immediately', async () => {
    await makeOffer(one.ctx, saleFile({ slug: 'closed', ends_at: '2030-01-01T00:00:00Z' }));
    await closeOffer(one.ctx, 'closed', 'sold');
    const now = one.clock.now();
    await getUntil('/v1/offers?limit=100', ({ data }) =>
      data.some(
        (offer) =>
          offer.slug === 'closed' && Date.parse((offer as unknown as { ends_at: string }).ends_at) === now,
      ),
    );
  });
});

test('closing and reopening an offer reaches the caches of every node', async () => {
  const two = await testApp({ databaseUrl: database.url });
  await makeOffer(one.ctx, saleFile({ slug: 'reopened', ends_at: '2030-01-01T00:00:00Z' }));
  const seen = async (node: TestApp) => (await get('/v1/offers/reopened', token, {}, node)).json().ends_at;
  for (const node of [one, two]) await expect.poll(() => seen(node)).toBe('2030-01-01T00:00:00.000000Z');
  await closeOffer(one.ctx, 'reopened', 'mistake');
  for (const node of [one, two]) await expect.poll(() => seen(node)).toMatch(/^2026-/);
  await reopenOffer(one.ctx, 'reopened', 'mistake');
  for (const node of [one, two]) await expect.poll(() => seen(node)).toBe('2030-01-01T00:00:00.000000Z');
  await two.close();
});

describe('GET /v1/offers', () => {
  let reader: string;
  const slugs = Array.from({ length: 7 }, (_, index) => `paged-${index}`);

  beforeAll(async () => {
    reader = await one.tokenFor({
      clientId: 'partner-paged',
      userId: null,
      scopes: new Set(['offers:read']),
    });
    for (const slug of slugs) await makeOffer(one.ctx, saleFile({ slug, partners: ['partner-paged'] }));
    await getUntil('/v1/offers', ({ data }) => data.length === 7, one, reader);
  });

  test('returns pages in both directions, newest first', async () => {
    const seen: string[] = [];
    let page = (await get('/v1/offers?limit=3', reader)).json();
    expect(page).not.toHaveProperty('starting_before');
    const first = page;
    for (;;) {
      seen.push(...page.data.map(({ slug }: { slug: string }) => slug));
      if (page.starting_after === undefined) break;
      page = (await get(`/v1/offers?limit=3&starting_after=${page.starting_after}`, reader)).json();
    }
    expect(seen).toEqual(slugs.toReversed());
    const back = (await get(`/v1/offers?limit=6&starting_before=${page.starting_before}`, reader)).json();
    expect(back.data.map(({ slug }: { slug: string }) => slug)).toEqual(seen.slice(0, 6));
    expect(back.data.slice(0, 3)).toEqual(first.data);
  });

  test('defaults to twenty offers and validates the limit', async () => {
    expect((await get('/v1/offers', reader)).json().data).toHaveLength(7);
    expect((await get('/v1/offers?limit=0', reader)).json().errors).toHaveProperty('limit');
    expect((await get('/v1/offers?limit=101', reader)).json().errors).toHaveProperty('limit');
  });

  test('refuses a cursor of another partner', async () => {
    const { starting_after } = (await get('/v1/offers?limit=3', reader)).json();
    expect((await get(`/v1/offers?starting_after=${starting_after}`)).json()).toMatchObject({
      code: 'validation_failed',
    });
  });

  test('returns 304 until an offer changes', async () => {
    for (const path of ['/v1/offers', '/v1/offers/paged-1', '/v1/offers/paged-1/requirements']) {
      const bearer = path.endsWith('requirements')
        ? await one.tokenFor({ clientId: 'partner-paged', scopes: new Set(['requirements:read']) })
        : reader;
      const { headers } = await get(path, bearer);
      const again = await get(path, bearer, { 'if-none-match': String(headers.etag) });
      expect([again.statusCode, again.body]).toEqual([304, '']);
    }
    const before = await get('/v1/offers', reader);
    await applyOffers(one.ctx, [
      saleFile({ slug: 'paged-1', partners: ['partner-paged'], tagline: 'Changed' }),
    ]);
    await getUntil('/v1/offers', (body) => JSON.stringify(body).includes('Changed'), one, reader);
    const after = await get('/v1/offers', reader, { 'if-none-match': String(before.headers.etag) });
    expect(after.statusCode).toBe(200);
  });
});

describe('GET /v1/offers/{offer_id}/requirements', () => {
  test('returns every option with its requirements', async () => {
    const requirements: OfferFile['options'][number]['requirements'] = [
      { type: 'identity_verification', details: null },
      { type: 'kyc_approved', details: null },
      { type: 'accreditation', details: null },
      { type: 'external_wallet', details: { protocol: 'ethereum' } },
      { type: 'whitelisted_wallet', details: { max_wallets: 3 } },
      { type: 'document', details: { document_type: 'tax_certification' } },
      {
        type: 'jurisdiction',
        details: {
          filter_type: 'reject',
          filters: [{ country_iso_2: 'US', regions: ['NY'] }, { country_iso_2: 'KP' }],
        },
      },
    ];
    const [plain] = saleFile().options;
    const options = [
      { ...plain, slug: 'strict', requirements },
      { ...plain, slug: 'free', requirements: [] },
    ] as OfferFile['options'];
    const offer = await makeOffer(one.ctx, saleFile({ slug: 'all-kinds', options }));
    await getUntil('/v1/offers?limit=100', ({ data }) => data.some(({ slug }) => slug === 'all-kinds'));
    const [strict, free] = offer.options;
    const reply = (await get(`/v1/offers/${offer.id}/requirements`)).json();
    expect(reply).toEqual({
      object: 'offer_requirements',
      offer_id: offer.id,
      options: {
        [String(strict?.id)]: {
          object: 'list',
          data: requirements.map((requirement) => ({
            object: 'requirement',
            id: expect.stringMatching(/^[0-9a-f-]{36}$/),
            ...requirement,
          })),
        },
        [String(free?.id)]: { object: 'list', data: [] },
      },
    });
  });
});

describe('the offer cache', () => {
  test('shows a change of one node on another', async () => {
    const two = await testApp({ databaseUrl: database.url });
    try {
      await makeOffer(one.ctx, saleFile({ slug: 'shared', tagline: 'before' }));
      const isSeen = (word: string) => (body: object) => JSON.stringify(body).includes(word);
      await getUntil('/v1/offers?limit=100', isSeen('before'), two);
      await applyOffers(one.ctx, [saleFile({ slug: 'shared', tagline: 'after' })]);
      await getUntil('/v1/offers?limit=100', isSeen('after'), two);
    } finally {
      await two.close();
    }
  });

  test('is bypassed without the listening connection and starts empty afterwards', async () => {
    const disconnected = await testApp({ databaseUrl: database.url });
    try {
      await makeClient(one.ctx);
      await get('/v1/offers/shared', token, {}, disconnected);
      const lost = new Promise<void>((resolve) => disconnected.ctx.listener.onLost(resolve));
      const restored = new Promise<void>((resolve) => disconnected.ctx.listener.onRestored(resolve));
      await sql`select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and objid = ${disconnected.ctx.node}`.execute(
        one.ctx.db,
      );
      await lost;
      // Disable the trigger, so that no notification arrives, as if one had been sent while the node was not listening.
      await sql`alter table offers disable trigger all`.execute(one.ctx.db);
      await sql`update offers set tagline = 'not notified' where slug = 'shared'`.execute(one.ctx.db);
      await sql`alter table offers enable trigger all`.execute(one.ctx.db);
      expect((await get('/v1/offers/shared', token, {}, disconnected)).json().tagline).toBe('not notified');
      await restored;
      expect((await get('/v1/offers/shared', token, {}, disconnected)).json().tagline).toBe('not notified');
    } finally {
      await disconnected.close();
    }
  });
});
