import type { MarketStatus } from '@causeway/sandbox/venue/calendar.ts';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { makeOffer } from '../../test/offers.ts';
import { appleFile, startTokenizedWorld, type TokenizedWorld } from '../../test/venue.ts';

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
          ...{ allow_list: false, domain_name: null },
          funding_tokens: [{ asset: 'usd-coin', address: usdc }],
        },
      ],
    }),
  );
});
afterAll(() => world.close());
beforeEach(() => {
  Object.assign(world.venue.state, { session: null, assets: {}, live: [], executed: [] });
  world.app.ctx.venue.forget();
});

type Told = { tradable: boolean; quote: string; transaction: string; until: unknown };

/** What the three endpoints say of a purchase; they must agree. */
async function ask(symbol = 'AAPLon', side = 'buy'): Promise<Told> {
  const { user, wallet, app } = world;
  await app.ctx.db.deleteFrom('tokenized_orders').execute();
  const query = `symbol=${symbol}&side=${side}`;
  const status = await user.call('GET', `/v1/tokenized/swap/trading-status?${query}`);
  const quote = await user.call('GET', `/v1/tokenized/swap/quote?${query}&notional_value=100`);
  const transaction = await user.call('POST', '/v1/tokenized/swap/transaction', {
    ...{ amount: '100000000', chain: 'ethereum_sepolia', symbol, wallet_address: wallet.address },
  });
  const code = ({ status: http, body }: typeof quote) => (http === 200 ? 'ok' : String(body.code));
  const limits = ['gross_max_notional_value', 'gross_max_tokens', 'gross_max_active_notional_value'];
  for (const limit of limits) expect(status.body[limit] === null).toBe(status.body.tradable === false);
  return {
    tradable: status.body.tradable === true,
    quote: code(quote),
    transaction: code(transaction),
    until: (transaction.body.errors as { until?: string } | undefined)?.until,
  };
}

const agree = (code: string) => ({ tradable: code === 'ok', quote: code, transaction: code });

/** A chain's time does not go back, so the moments are in order. */
describe('by the clock in New York', () => {
  test.each([
    ['premarket', '2026-03-03T09:01:00Z', 'ok', undefined],
    [
      'the pause before the regular session',
      '2026-03-03T14:29:30Z',
      'market_paused',
      '2026-03-03T14:31:00.000000Z',
    ],
    ['the regular session', '2026-03-03T14:31:00Z', 'ok', undefined],
    ['postmarket', '2026-03-03T21:01:00Z', 'ok', undefined],
    ['the pause before the night', '2026-03-04T01:00:00Z', 'market_paused', '2026-03-04T01:05:00.000000Z'],
    ['overnight', '2026-03-04T03:00:00Z', 'ok', undefined],
    [
      'the weekend on which the clocks change',
      '2026-03-07T12:00:00Z',
      'market_closed',
      '2026-03-09T00:05:00.000000Z',
    ],
    ['the regular session in summer time', '2026-03-09T13:31:00Z', 'ok', undefined],
    ['Good Friday', '2026-04-03T15:00:00Z', 'market_closed', '2026-04-06T00:05:00.000000Z'],
    ['an early close', '2026-11-27T17:59:30Z', 'market_paused', '2026-11-27T18:01:00.000000Z'],
    ['after an early close', '2026-11-27T22:30:00Z', 'market_closed', '2026-11-30T01:05:00.000000Z'],
  ])('%s: quote, status and transaction agree', async (_what, time, code, until) => {
    world.app.clock.set(Date.parse(time));
    await world.chain.chain.mine(1);
    expect(await ask()).toEqual({ ...agree(code), until });
  });

  test('what trades on weekends does so, and only that', async () => {
    world.app.clock.set(Date.parse('2026-12-05T15:00:00Z'));
    await world.chain.chain.mine(1);
    expect(await ask('TSLAon')).toMatchObject(agree('ok'));
    expect(await ask('AAPLon')).toMatchObject(agree('market_closed'));
  });
});

describe('by hand', () => {
  test.each<[MarketStatus, string]>([
    ['regular', 'ok'],
    ['premarket', 'ok'],
    ['postmarket', 'ok'],
    ['overnight', 'ok'],
    ['offhours', 'market_closed'],
    ['paused', 'market_paused'],
    ['closed', 'market_closed'],
  ])('%s is %s', async (session, code) => {
    world.venue.state.session = session;
    expect(await ask()).toMatchObject(agree(code));
  });

  const settings = { paused: false, redeem_only: false, price: null, max_notional: null };

  test('a paused asset trades neither way, and the other asset does', async () => {
    world.venue.state.session = 'regular';
    world.venue.state.assets.AAPLon = { ...settings, paused: true };
    expect(await ask()).toMatchObject(agree('asset_paused'));
    expect((await ask('AAPLon', 'sell')).tradable).toBe(false);
    expect(await ask('TSLAon')).toMatchObject(agree('ok'));
  });

  test('an asset that can only be given back is not bought and still sold', async () => {
    world.venue.state.session = 'regular';
    world.venue.state.assets.AAPLon = { ...settings, redeem_only: true };
    expect(await ask()).toMatchObject(agree('side_not_allowed'));
    expect(await ask('AAPLon', 'sell')).toMatchObject({ tradable: true, quote: 'ok' });
  });

  test('a limit that has filled up refuses orders, while quotes stay free', async () => {
    world.venue.state.session = 'regular';
    world.venue.state.assets.AAPLon = { ...settings, max_notional: '99.5' };
    expect(await ask()).toMatchObject({ tradable: true, quote: 'ok', transaction: 'limit_reached' });
    world.venue.state.assets.AAPLon = { ...settings, max_notional: '100' };
    expect(await ask()).toMatchObject({ tradable: true, quote: 'ok', transaction: 'ok' });
    expect(await ask()).toMatchObject({ quote: 'ok', transaction: 'limit_reached' });
  });
});

test('credentials that the venue refuses are our fault, never a closed market', async () => {
  const { state } = world.venue;
  state.session = 'regular';
  const key = state.api_key;
  state.api_key = 'another';
  const told = await ask();
  state.api_key = key;
  expect(told).toMatchObject({ quote: 'upstream_error', transaction: 'upstream_error' });
});
