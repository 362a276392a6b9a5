import { createElement } from 'react';
import { renderToString } from 'react-dom/server';
import { expect, test } from 'vitest';
import { createCauseway } from '../client.ts';
import { CausewayProvider, OffersGrid, preload } from '../react/index.ts';
import { createMockService, mswHandlers, offerFixture, participationFixture } from './index.ts';

function setUp(changes?: Parameters<typeof createMockService>[0]) {
  const mock = createMockService(changes);
  const client = createCauseway({
    ...{ baseUrl: 'https://api.test', accessToken: 't', retries: 0, fetch: mock.fetch },
  });
  return { mock, client };
}

test('the mock service has every kind of offer, and components show them', async () => {
  const { client } = setUp();
  const initial = await preload(client, (queries) => [queries.offers()]);
  const html = renderToString(
    createElement(CausewayProvider, { client, initial, children: createElement(OffersGrid, {}) }),
  );
  for (const slug of ['Harbour Quarter', 'Treasury Fund', 'Apple Tokenized']) expect(html).toContain(slug);
  const offer = await client.offers.get('treasury-fund');
  expect(offer).toEqual(offerFixture('fund::swap'));
});

test('what a test changes is what the client reads', async () => {
  const kyc = { object: 'requirement', id: 'r1', type: 'kyc_approved', details: null } as const;
  const { mock, client } = setUp({ requirements: { 'harbour-quarter-public': [kyc] } });
  mock.state.statuses.r1 = 'in_progress';
  const { eligible, options } = await client.offers.eligibility('harbour-quarter');
  expect([eligible, options[0]?.checks[0]?.status]).toEqual([false, 'action_needed']);
  mock.state.statuses.r1 = 'completed';
  expect((await client.offers.eligibility('harbour-quarter')).eligible).toBe(true);
  mock.state.participations.push(participationFixture({ status: 'pending' }));
  expect((await client.participations.get('participation-1')).status).toBe('pending');
  mock.state.isMarketOpen = false;
  expect((await client.tokenized.tradingStatus({ symbol: 'AAPLon', side: 'buy' })).tradable).toBe(false);
});

test('a participation that the page creates is listed', async () => {
  const { client } = setUp();
  const created = await client.participations.create({
    ...{ offer_id: 'harbour-quarter', offer_option_id: 'harbour-quarter-public', chain: 'ethereum_sepolia' },
    ...{ wallet_address: '0x1', amount: '25500000', asset_id: 'usd-coin', approval_transaction_hash: '0x2' },
  });
  expect([created.status, created.amount_string]).toEqual(['prepared', '25.5']);
  expect((await client.participations.list()).data).toEqual([created]);
});

test('without a user the session says so and every call fails as the service would fail it', async () => {
  const { mock, client } = setUp({ user: null });
  const session = () => mock.respond(new Request('https://app.test/causeway/session'));
  expect(await (await session()).json()).toEqual({ signed_in: false });
  await expect(client.offers.list()).rejects.toMatchObject({ code: 'unauthorized', status: 401 });
  mock.state.user = { id: 'u', email: 'u@example.com' };
  expect(await (await session()).json()).toMatchObject({ signed_in: true, user: { email: 'u@example.com' } });
  expect((await client.offers.list()).data).toHaveLength(3);
});

test('unknown ids and routes are not found, and the message names a route that the mock lacks', async () => {
  const { client } = setUp();
  await expect(client.offers.get('unknown')).rejects.toMatchObject({ code: 'not_found' });
  await expect(client.kyc.token()).rejects.toThrow('POST /v1/kyc-token');
});

test('the handlers of MSW cover the service and the routes of the app', async () => {
  const handlers = mswHandlers({ all: (path, resolver) => ({ path, resolver }) }, createMockService(), {
    prefix: '/auth',
  });
  expect(handlers.map(({ path }) => path)).toEqual(['*/v1/*', '*/auth/session', '*/auth/token']);
  const reply = await handlers[0]?.resolver({ request: new Request('https://api.test/v1/offers') });
  const body = (await reply?.json()) as { data: unknown[] } | undefined;
  expect(body?.data).toHaveLength(3);
});
