import { tokenizedSwap } from '@causeway/contracts/abi/tokenized-swap.ts';
import { venueManager } from '@causeway/contracts/abi/venue-manager.ts';
import type { MarketStatus } from '@causeway/sandbox/simulators/venue/calendar.ts';
import type { Hex } from 'viem';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { makeOffer } from '../../../test/support/offers.ts';
import { appleFile, startTokenizedWorld, type TokenizedWorld } from '../../../test/support/venue.ts';
import { deriveSandboxKey } from '../../kernel/config/sandbox-keys.ts';

let world: TokenizedWorld;
beforeAll(async () => {
  world = await startTokenizedWorld();
  const { deployment, usdc, app } = world;
  const tesla = deployment.assets[1];
  await makeOffer(
    app.ctx,
    appleFile(deployment, usdc, {
      slug: 'tesla',
      symbol: 'TSLAon',
      contracts: [
        {
          ...{ chain: 'ethereum_sepolia', address: deployment.swap, asset_address: tesla?.address ?? null },
          ...{ allow_list: false, domain_name: null, vault: null },
          funding_tokens: [{ asset: 'usd-coin', address: usdc }],
        },
      ],
    }),
  );
});
afterAll(() => world.close());
beforeEach(() => {
  Object.assign(world.venue.state, { session: null, assets: {}, live: [], executed: [] });
  world.app.ctx.venue.clear();
});

type Outcome = { tradable: boolean; quote: string; transaction: string; until: unknown };

/**
 * Calls the status, quote and transaction endpoints for one purchase, and checks that their answers agree.
 */
async function callAll(symbol = 'AAPLon', side = 'buy'): Promise<Outcome> {
  const { user, wallet, app } = world;
  await app.ctx.db.deleteFrom('tokenized_orders').execute();
  const query = `symbol=${symbol}&side=${side}`;
  const status = await user.call('GET', `/v1/tokenized/swap/trading-status?${query}`);
  const quote = await user.call('GET', `/v1/tokenized/swap/quote?${query}&notional_value=100`);
  const transaction = await user.call('POST', '/v1/tokenized/swap/transaction', {
    ...{ amount: '100000000', chain: 'ethereum_sepolia', symbol, wallet_address: wallet.address },
  });
  const code = ({ status: http, body }: typeof quote) => (http === 200 ? 'ok' : String(body.code));
  const { tradable, ...shown } = status.body;
  expect(shown.gross_max_active_notional_value === null).toBe(tradable === false);
  // The order limits may be shown while the market is closed, and must be shown while the asset is tradable.
  const ofOrder = [shown.gross_max_notional_value, shown.gross_max_tokens];
  if (tradable === true) expect(ofOrder).not.toContain(null);
  const until = (reply: typeof quote) => (reply.body.errors as { until?: string } | undefined)?.until;
  expect(until(quote)).toBe(code(quote) === code(transaction) ? until(transaction) : undefined);
  return {
    tradable: status.body.tradable === true,
    quote: code(quote),
    transaction: code(transaction),
    until: until(transaction),
  };
}

const agree = (code: string) => ({ tradable: code === 'ok', quote: code, transaction: code });

/** The venue's sessions on 3 March 2026, in New York time (UTC-5): start, end and the expected result. */
const DAY = [
  ['03:55', '04:01', 'market_paused'],
  ['04:01', '09:29', 'ok'],
  ['09:29', '09:31', 'market_paused'],
  ['09:31', '15:59', 'ok'],
  ['15:59', '16:01', 'market_paused'],
  ['16:01', '19:59', 'ok'],
  ['19:59', '20:05', 'market_paused'],
  ['20:05', '27:55', 'ok'],
].flatMap(([from = '', to = '', code = '']) => {
  const at = (time: string) => Date.UTC(2026, 2, 3, Number(time.slice(0, 2)) + 5, Number(time.slice(3)));
  const [start, end] = [at(from), at(to)];
  const until = code === 'ok' ? undefined : new Date(end).toISOString().replace('.000Z', '.000000Z');
  return [start, end - 1000].map((time) => [new Date(time).toISOString(), code, until] as const);
});

/** Chain time cannot go backwards, so the times are in ascending order. */
describe('the market by New York time', () => {
  const at = async (time: string) => {
    world.app.clock.set(Date.parse(time));
    await world.chain.chain.mine(1);
  };

  test.each(DAY)('at %s is %s on all three endpoints', async (time, code, until) => {
    await at(time);
    expect(await callAll()).toEqual({ ...agree(code), until });
  });

  test.each([
    ['the last second of a week', '2026-03-07T00:58:59Z', 'ok', undefined],
    [
      'the weekend on which the clocks go forward',
      '2026-03-07T12:00:00Z',
      'market_closed',
      '2026-03-09T00:05:00.000000Z',
    ],
    [
      'a second before the week begins',
      '2026-03-09T00:04:59Z',
      'market_closed',
      '2026-03-09T00:05:00.000000Z',
    ],
    ['the first second of a week', '2026-03-09T00:05:00Z', 'ok', undefined],
    ['the regular session in summer time', '2026-03-09T13:31:00Z', 'ok', undefined],
    ['Good Friday', '2026-04-03T15:00:00Z', 'market_closed', '2026-04-06T00:05:00.000000Z'],
    [
      'the weekend on which the clocks go back',
      '2026-10-31T12:00:00Z',
      'market_closed',
      '2026-11-02T01:05:00.000000Z',
    ],
    [
      'the pause before the regular session in winter time',
      '2026-11-02T14:30:59Z',
      'market_paused',
      '2026-11-02T14:31:00.000000Z',
    ],
    ['the regular session in winter time', '2026-11-02T14:31:00Z', 'ok', undefined],
    ['Thanksgiving', '2026-11-26T17:00:00Z', 'market_closed', '2026-11-27T01:05:00.000000Z'],
    ['the night after a holiday', '2026-11-27T01:05:00Z', 'ok', undefined],
    ['an early close', '2026-11-27T17:59:30Z', 'market_paused', '2026-11-27T18:01:00.000000Z'],
    ['after an early close', '2026-11-27T22:30:00Z', 'market_closed', '2026-11-30T01:05:00.000000Z'],
  ])('%s is the same on all three endpoints', async (_what, time, code, until) => {
    await at(time);
    expect(await callAll()).toEqual({ ...agree(code), until });
  });

  test('trades only 24/7 assets on weekends', async () => {
    await at('2026-12-05T15:00:00Z');
    expect(await callAll('TSLAon')).toMatchObject(agree('ok'));
    expect(await callAll('AAPLon')).toMatchObject(agree('market_closed'));
  });
});

describe('a market set by hand', () => {
  test.each<[MarketStatus, string]>([
    ['regular', 'ok'],
    ['premarket', 'ok'],
    ['postmarket', 'ok'],
    ['overnight', 'ok'],
    ['offhours', 'market_closed'],
    ['paused', 'market_paused'],
    ['closed', 'market_closed'],
  ])('in session %s: %s', async (session, code) => {
    world.venue.state.session = session;
    expect(await callAll()).toMatchObject(agree(code));
  });

  /**
   * Polls until the endpoints give the expected answers, because the cached latest block may lag behind a new
   * one.
   */
  const eventually = (expected: Partial<Outcome>) =>
    expect.poll(() => callAll(), { timeout: 15_000 }).toEqual(expect.objectContaining(expected));

  const settings = { paused: false, redeem_only: false, price: null, max_notional: null };

  test('with one paused asset still trades the other', async () => {
    world.venue.state.session = 'regular';
    world.venue.state.assets.AAPLon = { ...settings, paused: true };
    expect(await callAll()).toMatchObject(agree('asset_paused'));
    expect((await callAll('AAPLon', 'sell')).tradable).toBe(false);
    expect(await callAll('TSLAon')).toMatchObject(agree('ok'));
  });

  test('with a redeem-only asset refuses buys and allows sells', async () => {
    world.venue.state.session = 'regular';
    world.venue.state.assets.AAPLon = { ...settings, redeem_only: true };
    expect(await callAll()).toMatchObject(agree('side_not_allowed'));
    expect(await callAll('AAPLon', 'sell')).toMatchObject({ tradable: true, quote: 'ok' });
  });

  test('with a paused contract trades nothing', async () => {
    world.venue.state.session = 'regular';
    const { deployment, call } = world;
    const owner = deriveSandboxKey('owner');
    await call(owner, deployment.swap, tokenizedSwap, 'pause', [2]);
    await eventually({ tradable: false, quote: 'ok', transaction: 'asset_paused' });
    await call(owner, deployment.swap, tokenizedSwap, 'pause', [0]);
    await eventually(agree('ok'));
  });

  test('with an asset paused only on the chain refuses that side', async () => {
    world.venue.state.session = 'regular';
    const { deployment, call } = world;
    const set = (minting: boolean) =>
      call(deriveSandboxKey('venue owner'), deployment.manager, venueManager, 'setTokenPause', [
        ...([deployment.assets[0]?.address as Hex, minting, false] as const),
      ]);
    await set(true);
    await eventually({ tradable: false, transaction: 'asset_paused' });
    expect((await callAll('AAPLon', 'sell')).tradable).toBe(true);
    await set(false);
    await eventually(agree('ok'));
  });

  test('without remaining attestations is not tradable until one expires', async () => {
    world.venue.state.session = 'regular';
    const expiration = world.app.clock.now() / 1000 + 30;
    world.venue.state.live = Array.from({ length: 500 }, (_, id) => ({
      ...{ id: String(id), symbol: 'AAPLon', notional: '1', expiration, session: 'regular by hand' },
    }));
    expect(await callAll()).toMatchObject({ tradable: false, quote: 'ok', transaction: 'limit_reached' });
    world.app.clock.advance(31);
    await world.chain.chain.mine(1);
    expect(await callAll()).toMatchObject(agree('ok'));
  });

  test('at its limit refuses orders but still quotes', async () => {
    world.venue.state.session = 'regular';
    world.venue.state.assets.AAPLon = { ...settings, max_notional: '99.5' };
    expect(await callAll()).toMatchObject({ tradable: true, quote: 'ok', transaction: 'limit_reached' });
    world.venue.state.assets.AAPLon = { ...settings, max_notional: '100' };
    expect(await callAll()).toMatchObject({ tradable: true, quote: 'ok', transaction: 'ok' });
    expect(await callAll()).toMatchObject({ quote: 'ok', transaction: 'limit_reached' });
  });
});

test('rejected credentials are an upstream_error, never a closed market', async () => {
  const { state } = world.venue;
  state.session = 'regular';
  const key = state.api_key;
  state.api_key = 'another';
  const outcome = await callAll();
  state.api_key = key;
  expect(outcome).toMatchObject({ quote: 'upstream_error', transaction: 'upstream_error' });
});
