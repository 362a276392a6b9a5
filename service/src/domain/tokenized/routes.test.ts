import { UNSET } from '@causeway/sandbox/simulators/venue/market.ts';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { MARKET_OPEN, startTokenizedWorld, type TokenizedWorld } from '../../../test/support/venue.ts';
import { runHousekeeping } from '../../edges/housekeeping.ts';
import { parseDecimal } from '../../platform/providers/ondo.ts';
import { importPrices, recordPrices } from './price-recorder.ts';
import { deleteOldPrices } from './retention.ts';

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

describe('the market', () => {
  const market = (query = '') => world.user.call('GET', `/v1/tokenized/swap/market?symbol=AAPLon${query}`);
  const prices = async (query = '') =>
    ((await market(query)).body.prices as { data: { price: string; recorded_at: string }[] }).data;
  const HOUR_S = 3_600;
  const at = (offsetS: number) => new Date(MARKET_OPEN + offsetS * 1000).toISOString();
  const wire = (offsetS: number) => at(offsetS).replace('Z', '000Z');

  beforeEach(() => world.app.ctx.db.deleteFrom('tokenized_prices').execute());

  test('has one recorded price per five minutes, whatever the number of nodes, and none while it is closed', async () => {
    const { ctx, clock } = world.app;
    const { body } = await quote('symbol=AAPLon&side=buy&token_amount=1');
    await Promise.all([recordPrices(ctx), recordPrices(ctx), recordPrices(ctx)]);
    clock.advance(60);
    await recordPrices(ctx);
    expect(await prices()).toEqual([
      { object: 'tokenized_swap_price', price: body.price, recorded_at: wire(0) },
    ]);
    clock.advance(240);
    await recordPrices(ctx);
    world.venue.state.session = 'closed';
    ctx.venue.clear();
    clock.advance(300);
    await recordPrices(ctx);
    expect((await prices()).map(({ recorded_at }) => recorded_at)).toEqual([wire(0), wire(300)]);
  });

  test('spares the venue: requests nothing while the market is closed, and asks once about an asset that does not trade', async () => {
    const { ctx, clock } = world.app;
    const quotes = vi.spyOn(ctx.venue, 'quote');
    const refused = new Map<string, string>();
    world.venue.state.session = 'closed';
    ctx.venue.clear();
    await recordPrices(ctx, refused);
    expect(quotes).not.toHaveBeenCalled();
    world.venue.state.session = null;
    world.venue.state.assets = { AAPLon: { ...UNSET, paused: true } };
    ctx.venue.clear();
    for (let minute = 0; minute < 3; minute++) {
      await recordPrices(ctx, refused);
      clock.advance(60);
    }
    expect(quotes.mock.calls.filter(([{ symbol }]) => symbol === 'AAPLon')).toHaveLength(1);
    quotes.mockRestore();
  });

  test('is recorded by the other nodes if the clock of one is a day ahead', async () => {
    const { ctx, clock } = world.app;
    await recordPrices({ ...ctx, clock: { ...ctx.clock, now: () => clock.now() + 86_400_000 } });
    await recordPrices(ctx);
    expect((await prices()).map(({ recorded_at }) => recorded_at)).toEqual([wire(0)]);
  });

  test('shows its hours, and the close of the day before in New York', async () => {
    const { ctx, clock } = world.app;
    const session = 'regular';
    await importPrices(ctx, async () => [
      // Friday's last regular-session price, a later Friday price, and a Monday price.
      { symbol: 'AAPLon', recorded_at: '2026-02-27T20:55:00Z', price: '201.5', session },
      { symbol: 'AAPLon', recorded_at: '2026-02-27T22:00:00Z', price: '203', session: 'postmarket' },
      { symbol: 'AAPLon', recorded_at: '2026-03-02T14:55:00Z', price: '205', session },
    ]);
    expect((await market()).body).toEqual({
      object: 'tokenized_swap_market',
      symbol: 'AAPLon',
      is_open: true,
      session: 'regular',
      opens_at: null,
      closes_at: '2026-03-02T20:59:00.000000Z',
      previous_close: '201.5',
      prices: { object: 'list', data: [expect.objectContaining({ price: '205' })] },
    });
    clock.set(Date.parse('2026-03-07T15:00:00Z'));
    expect((await market('&range=1w')).body).toMatchObject({
      ...{ is_open: false, session: 'offhours', opens_at: '2026-03-09T00:05:00.000000Z', closes_at: null },
      previous_close: '205',
      prices: { data: [{ price: '201.5' }, { price: '203' }, { price: '205' }] },
    });
  });

  test('shows prices but no hours if the venue does not tell them', async () => {
    await recordPrices(world.app.ctx);
    world.app.ctx.venue.clear();
    const { state } = world.venue;
    const key = state.api_key;
    state.api_key = 'another';
    const { status: code, body } = await market();
    state.api_key = key;
    expect([code, body.is_open, body.session, body.opens_at, body.closes_at]).toEqual([
      ...[200, null, null, null, null],
    ]);
    expect(await prices()).toHaveLength(1);
  });

  test('ends each range with the newest price, and returns the last price of each step', async () => {
    const { ctx, clock } = world.app;
    const offsets = [-40 * 24, -20 * 24, -2 * 24, -23, -1, -0.5, 0];
    await importPrices(ctx, async () =>
      offsets.map((hours, index) => ({
        ...{ symbol: 'AAPLon', recorded_at: at(hours * HOUR_S), price: `${index + 1}`, session: 'regular' },
      })),
    );
    // A later import does not change recorded prices.
    await importPrices(ctx, async () => [
      { symbol: 'AAPLon', recorded_at: at(-HOUR_S - 1), price: '99', session: 'regular' },
    ]);
    const shown = async (range: string) => (await prices(`&range=${range}`)).map(({ price }) => price);
    expect(await shown('1d')).toEqual(['4', '5', '6', '7']);
    expect(await shown('1w')).toEqual(['3', '4', '6', '7']);
    expect(await shown('1m')).toEqual(['2', '3', '4', '7']);
    expect(await shown('1y')).toEqual(['1', '2', '3', '4', '7']);
    clock.advance(30 * 24 * HOUR_S);
    expect(await shown('1d')).toEqual(['4', '5', '6', '7']);
    clock.set(MARKET_OPEN - HOUR_S * 1000);
    expect(await shown('1d')).toEqual(['4', '5']);
    expect((await market('&range=2d')).body).toMatchObject({
      code: 'validation_failed',
      errors: { range: [expect.any(String)] },
    });
  });

  test('keeps every price for 8 days and one per hour for 400', async () => {
    const { ctx, clock } = world.app;
    for (const minutes of [5, 30, 60, 90]) {
      clock.set(MARKET_OPEN + minutes * 60_000);
      await recordPrices(ctx);
    }
    const kept = async () => {
      await runHousekeeping(ctx, { prices: deleteOldPrices });
      return (await prices()).map(({ recorded_at }) => recorded_at);
    };
    clock.set(MARKET_OPEN + 8 * 24 * HOUR_S * 1000);
    expect(await kept()).toHaveLength(4);
    clock.advance(2 * HOUR_S);
    expect(await kept()).toEqual([wire(300), wire(HOUR_S)]);
    clock.set(MARKET_OPEN + 400 * 24 * HOUR_S * 1000 + 2 * HOUR_S * 1000);
    expect(await kept()).toEqual([]);
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
