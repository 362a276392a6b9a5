import { expect, expectTypeOf, test } from 'vitest';
import { createCauseway, type FundSwapOffer, type OfferDetails, type TokenSaleOffer } from './index.ts';
import { offerFixture } from './testing/index.ts';

const create = (options: object) => () => createCauseway({ ...VALID, ...options } as typeof VALID);
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

test('the type of an offer narrows it', () => {
  const saleOf = (offer: OfferDetails): TokenSaleOffer | undefined =>
    offer.type === 'platform::token_sale' ? offer : undefined;
  expectTypeOf<Extract<OfferDetails, { type: 'fund::swap' }>>().toEqualTypeOf<FundSwapOffer>();
  expectTypeOf<FundSwapOffer>().not.toExtend<TokenSaleOffer>();
  expect(saleOf(offerFixture('fund::swap'))).toBeUndefined();
  expect(saleOf(offerFixture('platform::token_sale'))?.slug).toBe('harbour-quarter');
});
