import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Offer } from '../src/platform/context/ports.ts';
import { type TestApp, testApp, testConfig } from './support/app.ts';
import { makeOffer, saleFile } from './support/offers.ts';
import { makeClient } from './support/tokens.ts';

const FLOOD = 200;
/**
 * While one partner floods the service, a request from another partner must be answered before this many database
 * connections have been handed out.
 */
const MAX_TURNS = 40;

let app: TestApp;
let offer: Offer;
let acquired = 0;
beforeAll(async () => {
  const limits = { ...testConfig().limits, wallet_ownership: 1_000_000, oauth_token: 1_000_000 };
  app = await testApp({ config: { databasePool: 2, limits } });
  offer = await makeOffer(app.ctx, saleFile({ partners: ['greedy', 'other'] }));
  app.ctx.pool.on('acquire', () => void acquired++);
});
afterAll(() => app.close());

type Send = (clientId: string, number: number) => Promise<{ statusCode: number }>;

/**
 * Sends many requests from one partner, then one from another. Returns how many database connections were handed out
 * before that last request was answered.
 */
async function flood(send: Send): Promise<number> {
  const greedy = Array.from({ length: FLOOD }, (_, number) => send('greedy', number));
  // Waits until these requests are injected, which happens on the next tick.
  await new Promise(setImmediate);
  acquired = 0;
  expect((await send('other', FLOOD)).statusCode).toBe(200);
  const turns = acquired;
  expect((await Promise.all(greedy)).map(({ statusCode }) => statusCode)).toEqual(Array(FLOOD).fill(200));
  expect(acquired).toBeGreaterThan(FLOOD / 2);
  return turns;
}

const get = (url: string, token: string | undefined, remoteAddress = '127.0.0.1') =>
  app.app.inject({ url, headers: { authorization: `Bearer ${token}` }, remoteAddress });

test.each(['requirements/statuses', 'eligibility'])(
  'a partner that floods %s does not delay another by more than a few turns',
  async (path) => {
    const tokens = new Map<string, string>();
    for (const clientId of ['greedy', 'other']) {
      tokens.set(clientId, await app.tokenFor({ clientId }));
      await get(`/v1/offers/${offer.id}/${path}`, tokens.get(clientId));
    }
    const turns = await flood((clientId) => get(`/v1/offers/${offer.id}/${path}`, tokens.get(clientId)));
    expect(turns).toBeLessThan(MAX_TURNS);
  },
);

test('a partner that floods writes does not delay another by more than a few turns', async () => {
  const tokens = new Map<string, string>();
  for (const clientId of ['greedy', 'other']) {
    tokens.set(clientId, await app.tokenFor({ clientId }));
    await get('/v1/offers', tokens.get(clientId));
  }
  const turns = await flood((clientId, number) =>
    app.app.inject({
      ...{ method: 'POST', url: '/v1/wallet-ownership' },
      headers: { authorization: `Bearer ${tokens.get(clientId)}` },
      payload: { chain: 'ethereum_sepolia', wallet_address: `0x${String(number).padStart(40, '0')}` },
    }),
  );
  expect(turns).toBeLessThan(MAX_TURNS);
});

test('a network that floods the hosted pages does not delay another by more than a few turns', async () => {
  const first = await app.app.inject('/sign-in');
  const cookie = first.cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
  const turns = await flood((visitor) =>
    app.app.inject({
      ...{ url: '/sign-in', headers: { cookie } },
      remoteAddress: visitor === 'greedy' ? '198.51.100.1' : '198.51.100.2',
    }),
  );
  expect(turns).toBeLessThan(MAX_TURNS);
});

test('tokens that no node has seen yet are checked in turns per network', async () => {
  const tokens: string[] = [];
  for (let i = 0; i < FLOOD; i++) tokens.push(await app.tokenFor({ clientId: 'greedy' }));
  tokens.push(await app.tokenFor({ clientId: 'other' }));
  const turns = await flood((clientId, number) =>
    get('/v1/offers', tokens[number], clientId === 'greedy' ? '198.51.100.1' : '198.51.100.2'),
  );
  expect(turns).toBeLessThan(MAX_TURNS);
});

test('clients take turns at the token endpoint', async () => {
  const clients = new Map<string, string>();
  for (const clientId of ['greedy', 'other'])
    clients.set(clientId, (await makeClient(app.ctx, { clientId })).secret);
  const turns = await flood((clientId) => {
    const payload = {
      grant_type: 'client_credentials',
      client_id: clientId,
      client_secret: clients.get(clientId),
    };
    return app.app.inject({ method: 'POST', url: '/oauth/token', payload });
  });
  expect(turns).toBeLessThan(MAX_TURNS);
});
