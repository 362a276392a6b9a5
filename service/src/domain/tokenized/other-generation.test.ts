import { otherTokenizedSwap } from '@causeway/contracts/abi/test/other-tokenized-swap.ts';
import { token } from '@causeway/contracts/abi/token.ts';
import { venueManager } from '@causeway/contracts/abi/venue-manager.ts';
import { venueRegistry } from '@causeway/contracts/abi/venue-registry.ts';
import { roles } from '@causeway/sandbox/seed/keys.ts';
import { type Hex, keccak256, maxUint256, toHex } from 'viem';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { makeOffer } from '../../../test/support/offers.ts';
import {
  appleFile,
  MARKET_OPEN,
  startTokenizedWorld,
  type TokenizedWorld,
} from '../../../test/support/venue.ts';
import { deriveSandboxKey } from '../../kernel/config/sandbox-keys.ts';
import { settleOrders } from './watch.ts';

const NAME = 'Another Generation';
const owner = deriveSandboxKey('owner');
const venueOwner = deriveSandboxKey('venue owner');

/**
 * A world with a third-party swap contract. Unlike our own, the contract does not publish its signer, indexes different
 * event arguments and returns a status of three words.
 */
let world: TokenizedWorld;
let swap: Hex;
let time = MARKET_OPEN;
beforeAll(async () => {
  world = await startTokenizedWorld();
  const { chain, deployment, usdc, app, wallet, call } = world;
  swap = await chain.create(otherTokenizedSwap, [deployment.manager, roles.operator.address, NAME]);
  const market: Hex = `0x${keccak256(toHex('global_markets')).slice(-40)}`;
  await call(venueOwner, deployment.registry, venueRegistry, 'register', [market, swap, deployment.user_id]);
  await call(wallet.key, usdc, token, 'approve', [swap, maxUint256]);
  const file = appleFile(deployment, usdc);
  const contracts = file.contracts.map((contract) => ({ ...contract, address: swap, domain_name: NAME }));
  await makeOffer(app.ctx, { ...file, contracts });
  await waitForContract();
});
afterAll(() => world.close());
beforeEach(async () => {
  // Chain time cannot go backwards, so every test starts later than the previous one.
  time += 600_000;
  world.app.clock.set(time);
  await world.chain.chain.mine(1);
  Object.assign(world.venue.state, { session: 'regular', assets: {} });
  world.app.ctx.venue.clear();
});

/**
 * Waits until the API shows the new contract. The app's offer cache is notified of the change shortly after the offer
 * is applied.
 */
async function waitForContract(): Promise<void> {
  const address = async () => {
    const { body } = await world.user.call('GET', '/v1/offers/apple');
    return (body.contracts as { address: Hex }[])[0]?.address;
  };
  await vi.waitFor(async () => expect(await address()).toBe(swap), { interval: 10, timeout: 20_000 });
}

const order = () =>
  world.user.call('POST', '/v1/tokenized/swap/transaction', {
    ...{ amount: '1005000000', chain: 'ethereum_sepolia', symbol: 'AAPLon' },
    wallet_address: world.wallet.address,
  });
const orders = async () =>
  ((await world.user.call('GET', '/v1/tokenized/swap/orders')).body.data ?? []) as Record<string, unknown>[];
const tradable = async (side: 'buy' | 'sell') =>
  (await world.user.call('GET', `/v1/tokenized/swap/trading-status?symbol=AAPLon&side=${side}`)).body
    .tradable;

describe('a tokenized swap of another generation', () => {
  test('executes an order, and its event is found by the attestation id', async () => {
    const { status, body } = await order();
    expect([status, body.code, body.to]).toEqual([200, undefined, swap]);
    const { data } = body as { data: Hex };
    expect(await world.send(world.wallet.key, swap, data)).toBe('success');
    await world.chain.chain.mine(20);
    await settleOrders(world.app.ctx);
    const [first] = await orders();
    expect(first).toMatchObject({ status: 'executed', transaction_hash: expect.stringMatching(/^0x/) });
  });

  test('tells two orders of one wallet apart', async () => {
    const before = (await orders()).length;
    const first = (await order()).body as { data: Hex };
    expect(await world.send(world.wallet.key, swap, first.data)).toBe('success');
    // An executed order stops blocking the wallet even before the execution is final.
    const second = await order();
    expect(second.status).toBe(200);
    await world.chain.chain.mine(20);
    await settleOrders(world.app.ctx);
    const states = (await orders()).slice(0, -before || undefined).map(({ status }) => status);
    expect(states).toEqual(['issued', 'executed']);
  });

  test.each(['setGlobalPause', 'setTokenPause'] as const)(
    'is not tradable on the side of %s',
    async (name) => {
      const { deployment, call } = world;
      const asset = deployment.assets[0]?.address as Hex;
      const pause = (minting: boolean, redeeming: boolean) =>
        name === 'setGlobalPause'
          ? call(venueOwner, deployment.manager, venueManager, name, [minting, redeeming])
          : call(venueOwner, deployment.manager, venueManager, name, [asset, minting, redeeming]);
      expect([await tradable('buy'), await tradable('sell')]).toEqual([true, true]);
      await pause(false, true);
      expect([await tradable('buy'), await tradable('sell')]).toEqual([true, false]);
      await pause(true, false);
      expect([await tradable('buy'), await tradable('sell')]).toEqual([false, true]);
      expect(await order()).toMatchObject({ status: 409, body: { code: 'asset_paused' } });
      await pause(false, false);
    },
  );

  test('is not tradable on either side while it has flags', async () => {
    await world.call(owner, swap, otherTokenizedSwap, 'setFlags', [64]);
    expect([await tradable('buy'), await tradable('sell')]).toEqual([false, false]);
    await world.call(owner, swap, otherTokenizedSwap, 'setFlags', [0]);
  });

  test('answers a coded error when its owner has rotated the signer', async () => {
    await world.call(owner, swap, otherTokenizedSwap, 'rotate', [roles.supplier.address]);
    expect(await order()).toMatchObject({
      ...{ status: 422, body: { code: 'contract_reverted', errors: { reason: 'Unauthorized()' } } },
    });
    await world.call(owner, swap, otherTokenizedSwap, 'rotate', [roles.operator.address]);
    expect((await order()).status).toBe(200);
  });
});
