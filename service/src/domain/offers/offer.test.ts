import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestApp, testApp } from '../../../test/support/app.ts';
import { ADDRESS, makeOffer, saleFile, tokenizedFile } from '../../../test/support/offers.ts';
import { partnerOf } from '../../../test/support/tokens.ts';
import { newCaller } from '../../kernel/access.ts';
import { testClock } from '../../kernel/clock.ts';
import { assertOpen } from '../eligibility/decide.ts';
import { contractOn, findOffer, findOfferBySymbol, findOption, offerState } from './offer.ts';

let one: TestApp;
beforeAll(async () => {
  one = await testApp();
});
afterAll(() => one.close());

const caller = newCaller({
  clientId: 'partner-one',
  partnerId: partnerOf('partner-one'),
  userId: null,
  scopes: new Set(),
  origins: new Set(),
});

test('a window includes its start and excludes its end', async () => {
  const starts_at = '2026-01-01T00:00:00Z';
  const ends_at = '2026-02-01T00:00:00Z';
  const offer = await makeOffer(one.ctx, saleFile({ slug: 'window', starts_at, ends_at }));
  const [from, until] = [Date.parse(starts_at), Date.parse(ends_at)];
  const states = [from - 1, from, until - 1, until].map((now) => offerState(offer, now));
  expect(states).toEqual(['upcoming', 'open', 'open', 'ended']);
  expect(() => assertOpen(offer, testClock(from - 1))).toThrow(
    expect.objectContaining({ code: 'offer_not_started' }),
  );
  expect(() => assertOpen(offer, testClock(until))).toThrow(expect.objectContaining({ code: 'offer_ended' }));
  assertOpen(offer, testClock(from));
});

test('an offer without a window is always open', async () => {
  const offer = await makeOffer(one.ctx, saleFile({ slug: 'endless' }));
  expect([0, 1e15].map((now) => offerState(offer, now))).toEqual(['open', 'open']);
});

test('missing options and deployments throw their codes', async () => {
  const offer = await makeOffer(one.ctx, saleFile({ slug: 'parts' }));
  const [option] = offer.options;
  expect(findOption(offer, String(option?.id))).toBe(option);
  expect(() => findOption(offer, 'standard')).toThrow(expect.objectContaining({ code: 'not_found' }));
  expect(contractOn(offer, 'ethereum_sepolia').address).toBe(ADDRESS.fund);
  for (const chain of ['base_sepolia', 'solana_devnet'])
    expect(() => contractOn(offer, chain)).toThrow(expect.objectContaining({ code: 'chain_not_supported' }));
});

test('a symbol resolves to the open offer, or else to a closed one', async () => {
  const day = (text: string) => `${text}T00:00:00Z`;
  await makeOffer(one.ctx, tokenizedFile({ slug: 'stock-past', ends_at: day('2026-01-01') }));
  await makeOffer(one.ctx, tokenizedFile({ slug: 'stock-now' }));
  await makeOffer(
    one.ctx,
    tokenizedFile({ slug: 'stock-gone', symbol: 'GONEon', ends_at: day('2026-01-01') }),
  );
  await makeOffer(one.ctx, tokenizedFile({ slug: 'theirs', symbol: 'THEIRSon', partners: ['partner-two'] }));
  while ((await one.ctx.offers.of(caller.partnerId)).byKey.get('stock-gone') === undefined) await sleep(5);
  expect((await findOfferBySymbol(one.ctx, caller, 'HBRon')).slug).toBe('stock-now');
  expect((await findOfferBySymbol(one.ctx, caller, 'GONEon')).slug).toBe('stock-gone');
  for (const symbol of ['THEIRSon', 'hbron', 'NOPE'])
    await expect((async () => findOfferBySymbol(one.ctx, caller, symbol))()).rejects.toMatchObject({
      code: 'symbol_not_found',
    });
  expect((await findOffer(one.ctx, caller, 'stock-now')).symbol).toBe('HBRon');
  await expect(findOffer(one.ctx, caller, 'theirs')).rejects.toMatchObject({ code: 'not_found' });
});
