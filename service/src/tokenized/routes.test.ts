import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { MARKET_OPEN, startTokenizedWorld, type TokenizedWorld } from '../../test/support/venue.ts';
import { parseDecimal } from './decimal.ts';

let world: TokenizedWorld;
beforeAll(async () => {
  world = await startTokenizedWorld();
});
afterAll(() => world.close());
beforeEach(() => {
  world.app.clock.set(MARKET_OPEN);
  Object.assign(world.venue.state, { session: null, assets: {} });
  world.venue.fault.set('none');
  world.app.ctx.venue.clear();
});

const quote = (query: string) => world.user.call('GET', `/v1/tokenized/swap/quote?${query}`);
const status = (query: string) => world.user.call('GET', `/v1/tokenized/swap/trading-status?${query}`);

describe('quotes', () => {
  test('have exactly the specified fields, priced for mainnet', async () => {
    const { status: code, body } = await quote('symbol=AAPLon&side=buy&notional_value=1000.5');
    expect(code).toBe(200);
    expect(Object.keys(body).sort()).toEqual(
      [
        ...['asset_address', 'asset_decimals', 'chain_id', 'object', 'price', 'side', 'symbol'],
        ...['ticker', 'token_base_units'],
      ].sort(),
    );
    expect(body).toMatchObject({
      object: 'tokenized_swap_quote',
      chain_id: '1',
      symbol: 'AAPLon',
      ticker: 'AAPL',
      asset_decimals: 18,
      side: 'buy',
    });
    expect(body.price).toMatch(/^\d+(\.\d{1,18})?$/);
    const price = parseDecimal(String(body.price), 18) ?? 0n;
    const cost = (price * BigInt(String(body.token_base_units))) / 10n ** 18n;
    expect(1_000_500_000_000_000_000_000n - cost).toBeLessThan(1000n);
    expect(cost <= 1_000_500_000_000_000_000_000n).toBe(true);
  });

  test('are higher for buys, for large sizes and for long durations', async () => {
    const price = async (query: string) =>
      parseDecimal(String((await quote(`symbol=AAPLon&${query}`)).body.price), 18) ?? 0n;
    const buy = await price('side=buy&token_amount=1');
    expect(buy).toBeGreaterThan(await price('side=sell&token_amount=1'));
    expect(await price('side=buy&token_amount=500')).toBeGreaterThan(buy);
    expect(await price('side=buy&token_amount=1&duration=long')).toBeGreaterThan(buy);
  });

  test('for concurrent callers are requested from the venue once', async () => {
    const before = world.venue.requests('POST /v1/attestations/soft');
    const replies = await Promise.all(
      Array.from({ length: 50 }, () => quote('symbol=AAPLon&side=buy&token_amount=2')),
    );
    expect(new Set(replies.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    expect(world.venue.requests('POST /v1/attestations/soft') - before).toBe(1);
  });

  test('use up no attestation', async () => {
    const before = world.venue.state.attestations;
    await quote('symbol=AAPLon&side=buy&token_amount=3');
    await status('symbol=AAPLon&side=buy');
    expect(world.venue.state.attestations).toBe(before);
  });

  test.each([
    ['symbol=AAPLon&side=buy', 'notional_value'],
    ['symbol=AAPLon&side=buy&token_amount=1&notional_value=1', 'token_amount'],
    ['symbol=AAPLon&side=hold&token_amount=1', 'side'],
    ['symbol=AAPLon&side=buy&token_amount=0', 'token_amount'],
    ['symbol=AAPLon&side=buy&token_amount=1e3', 'token_amount'],
    ['symbol=AAPLon&side=buy&token_amount=0.1234567890123456789', 'token_amount'],
    ['symbol=AAPLon&side=buy&token_amount=1&duration=eternal', 'duration'],
    ['side=buy&token_amount=1', 'symbol'],
  ])('with %s are refused because of %s', async (query, field) => {
    const { status: code, body } = await quote(query);
    expect([code, body.code]).toEqual([422, 'validation_failed']);
    expect(body.errors).toHaveProperty([field]);
  });

  test('for a symbol that the partner does not offer fail with symbol_not_found', async () => {
    for (const call of [quote('symbol=TSLAon&side=buy&token_amount=1'), status('symbol=TSLAon&side=buy')])
      expect((await call).body.code).toBe('symbol_not_found');
  });
});

describe('the trading status', () => {
  test('has limits grossed up by the fee of a buy, rounded down', async () => {
    const { body } = await status('symbol=AAPLon&side=buy');
    expect(body).toEqual({
      object: 'tokenized_swap_trading_status',
      side: 'buy',
      tradable: true,
      gross_max_notional_value: '201000',
      gross_max_tokens: expect.stringMatching(/^\d+(\.\d{1,18})?$/),
      gross_max_active_notional_value: '201000',
    });
    expect((await status('symbol=AAPLon&side=sell')).body.gross_max_notional_value).toBe('200000');
  });

  test('of a closed market keeps the limits of an order, but has none on outstanding orders', async () => {
    world.venue.state.session = 'closed';
    expect((await status('symbol=AAPLon&side=buy')).body).toEqual({
      object: 'tokenized_swap_trading_status',
      side: 'buy',
      tradable: false,
      gross_max_notional_value: '201000',
      gross_max_tokens: expect.stringMatching(/^\d+(\.\d{1,18})?$/),
      gross_max_active_notional_value: null,
    });
    world.venue.state.session = 'offhours';
    world.app.ctx.venue.clear();
    expect((await status('symbol=AAPLon&side=sell')).body).toMatchObject({
      ...{ tradable: false, gross_max_notional_value: '200000', gross_max_active_notional_value: null },
    });
  });

  test('has null limits if nothing can be traded', async () => {
    world.venue.state.session = 'paused';
    expect((await status('symbol=AAPLon&side=buy')).body).toEqual({
      object: 'tokenized_swap_trading_status',
      side: 'buy',
      tradable: false,
      gross_max_notional_value: null,
      gross_max_tokens: null,
      gross_max_active_notional_value: null,
    });
  });
});

describe('a venue fault', () => {
  test.each([
    ['down', 503, 'upstream_unavailable'],
    ['garbage', 502, 'upstream_error'],
    ['rate_limited', 503, 'upstream_unavailable'],
  ] as const)('%s results in %i %s', async (mode, code, name) => {
    world.venue.fault.set(mode);
    const { status: got, body } = await quote(`symbol=AAPLon&side=buy&token_amount=${mode.length}`);
    expect([got, body.code, body.errors]).toEqual([code, name, { upstream: 'venue' }]);
  });
});
