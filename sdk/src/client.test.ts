import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, expectTypeOf, test } from 'vitest';
import {
  type Call,
  createCauseway,
  type FundSwapOffer,
  type OfferDetails,
  type TokenSaleOffer,
} from './index.ts';
import { offerFixture } from './testing/index.ts';

const create = (options: object) => () => createCauseway({ ...VALID, ...options } as typeof VALID);
const portOf = (server: Server) => (server.address() as AddressInfo).port;
const VALID = { baseUrl: 'https://causeway.example', accessToken: 't' };

test.each([
  [undefined, 'baseUrl is missing'],
  ['', 'baseUrl is missing'],
  ['causeway.example', '"causeway.example" is not an absolute URL'],
  ['/causeway', 'is not an absolute URL'],
  ['ftp://causeway.example', 'is not an absolute URL'],
  ['https://', 'is not an absolute URL'],
  ['https://causeway.example/v1', 'must not end in /v1'],
  ['https://causeway.example/v1/', 'must not end in /v1'],
  ['https://causeway.example?key=1', 'must not have a query'],
])('baseUrl %j: %s', (baseUrl, message) => {
  expect(create({ baseUrl })).toThrow(new RegExp(`${message}.*https://causeway\\.example`));
});

test('baseUrl may have a path and trailing slashes', () => {
  expect(create({ baseUrl: 'http://127.0.0.1:8080/' })().baseUrl).toBe('http://127.0.0.1:8080');
  expect(create({ baseUrl: 'https://app.example/causeway//' })().baseUrl).toBe(
    'https://app.example/causeway',
  );
});

test.each([undefined, null, '', {}])('accessToken %j is refused', (accessToken) => {
  expect(create({ accessToken })).toThrow('accessToken is missing');
});

test('a redirect is not followed, so that no request body reaches another server', async () => {
  const received: string[] = [];
  const thief = createServer((request, response) => {
    received.push(request.url ?? '');
    response.end('{}');
  });
  const service = createServer((_request, response) => {
    response.writeHead(307, { location: `http://127.0.0.1:${portOf(thief)}/stolen` }).end();
  });
  for (const server of [thief, service]) await once(server.listen(0, '127.0.0.1'), 'listening');
  try {
    const client = createCauseway({ baseUrl: `http://127.0.0.1:${portOf(service)}`, accessToken: 't' });
    const redirected = {
      code: 'unexpected_reply',
      message: expect.stringContaining('responded with a redirect'),
    };
    await expect(client.documents.submit('tax_certification', { DOB: '1990-01-01' })).rejects.toMatchObject(
      redirected,
    );
    await expect(client.pii.get()).rejects.toMatchObject(redirected);
    expect(received).toEqual([]);
  } finally {
    for (const server of [thief, service]) server.close();
  }
});

test.each([0, 302])(
  'a redirect with status %s, as browsers and Node report it, is reported and not retried',
  async (status) => {
    let calls = 0;
    const reply = { status, type: status === 0 ? 'opaqueredirect' : 'default', headers: new Headers() };
    const fetch = async () => {
      calls++;
      return reply as Response;
    };
    const reported: number[] = [];
    const onCall = (call: Call) => reported.push(call.status);
    await expect(create({ fetch, onCall })().pii.get()).rejects.toMatchObject({ code: 'unexpected_reply' });
    expect([calls, reported]).toEqual([1, [status]]);
  },
);

test('an offer other than the requested one is refused', async () => {
  const offer = offerFixture('fund::swap');
  const client = create({ fetch: async () => Response.json(offer) })();
  for (const known of [offer.id, offer.slug, offer.id.toUpperCase()])
    expect((await client.offers.get(known)).id).toBe(offer.id);
  await expect(client.offers.get('harbour-quarter')).rejects.toMatchObject({ code: 'unexpected_reply' });
});

test('the type of an offer narrows it', () => {
  const saleOf = (offer: OfferDetails): TokenSaleOffer | undefined =>
    offer.type === 'platform::token_sale' ? offer : undefined;
  expectTypeOf<Extract<OfferDetails, { type: 'fund::swap' }>>().toEqualTypeOf<FundSwapOffer>();
  expectTypeOf<FundSwapOffer>().not.toExtend<TokenSaleOffer>();
  expect(saleOf(offerFixture('fund::swap'))).toBeUndefined();
  expect(saleOf(offerFixture('platform::token_sale'))?.slug).toBe('harbour-quarter');
});
