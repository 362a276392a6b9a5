import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTokenizedWorld, type TokenizedWorld } from '../../../test/support/venue.ts';
import { person, userId } from '../../../test/support/wallets.ts';

let world: TokenizedWorld;
beforeAll(async () => {
  world = await startTokenizedWorld();
  world.venue.state.session = 'regular';
});
afterAll(() => world.close());

test('orders list what was issued, to their user and partner only', async () => {
  const { body } = await world.user.call('POST', '/v1/tokenized/swap/transaction', {
    ...{ chain: 'ethereum_sepolia', symbol: 'AAPLon', wallet_address: world.wallet.address },
    amount: '25000000',
  });
  const { status, body: page } = await world.user.call('GET', '/v1/tokenized/swap/orders');
  expect([status, page.object]).toEqual([200, 'list']);
  expect(page.data).toEqual([
    {
      object: 'tokenized_swap_order',
      id: expect.any(String),
      symbol: 'AAPLon',
      side: 'buy',
      chain: 'ethereum_sepolia',
      wallet_address: world.wallet.address.toLowerCase(),
      amount: '25000000',
      fee: body.fee,
      notional_value: body.notional_value,
      receive_output_amount: body.receive_output_amount,
      status: 'issued',
      transaction_hash: null,
      expires_at: body.expires_at,
      inserted_at: expect.stringMatching(/^\d{4}-.*\.\d{6}Z$/),
    },
  ]);
  const other = await person(world.app, { userId: userId(77) });
  expect((await other.call('GET', '/v1/tokenized/swap/orders')).body.data).toEqual([]);
  const listAs = async (caller: Parameters<typeof world.app.tokenFor>[0]) =>
    (
      await world.app.app.inject({
        url: '/v1/tokenized/swap/orders',
        headers: { authorization: `Bearer ${await world.app.tokenFor(caller)}` },
      })
    ).json();
  expect((await listAs({ userId: null })).data).toEqual(page.data);
  expect((await listAs({ userId: null, clientId: 'partner-two' })).data).toEqual([]);
  expect(await listAs({ scopes: new Set(['swaps:write']) })).toMatchObject({ code: 'insufficient_scope' });
});

test('the session limit is one number for both sides', async () => {
  const read = async (side: string) =>
    (await world.user.call('GET', `/v1/tokenized/swap/trading-status?symbol=AAPLon&side=${side}`)).body;
  const [buy, sell] = [await read('buy'), await read('sell')];
  expect(buy.gross_max_active_notional_value).toMatch(/^\d/);
  expect(sell.gross_max_active_notional_value).toBe(buy.gross_max_active_notional_value);
});
