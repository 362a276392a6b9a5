import { setTimeout as sleep } from 'node:timers/promises';
import { token } from '@causeway/contracts/abi/token.ts';
import { tokenizedSwap } from '@causeway/contracts/abi/tokenized-swap.ts';
import { venueConverter } from '@causeway/contracts/abi/venue-converter.ts';
import { roles } from '@causeway/sandbox/seed/keys.ts';
import fc from 'fast-check';
import { type Hex, maxUint256 } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeOffer } from '../../../test/support/offers.ts';
import { partnerOf } from '../../../test/support/tokens.ts';
import {
  appleFile,
  MARKET_OPEN,
  startTokenizedWorld,
  type TokenizedWorld,
} from '../../../test/support/venue.ts';
import { deriveSandboxKey } from '../../kernel/config/sandbox-keys.ts';

/** Set `PURCHASES=200` for the full test. */
const RUNS = Number(process.env.PURCHASES ?? 60);

let world: TokenizedWorld;
let time = MARKET_OPEN;
beforeAll(async () => {
  world = await startTokenizedWorld();
  world.venue.state.session = 'regular';
});
afterAll(() => world.close());

const order = (change: object) =>
  world.user.call('POST', '/v1/tokenized/swap/transaction', {
    ...{ chain: 'ethereum_sepolia', symbol: 'AAPLon', wallet_address: world.wallet.address },
    ...change,
  });
const balance = (of: Hex, owner: Hex) =>
  world.chain.direct.readContract({ address: of, abi: token.abi, functionName: 'balanceOf', args: [owner] });
const asset = () => world.deployment.assets[0]?.address as Hex;
const broadcast = (body: Record<string, unknown>) =>
  world.send(world.wallet.key, body.to as Hex, body.data as Hex);
const ownerKey = deriveSandboxKey('owner');

test('a purchase of any size, fee, price and funding token matches its reply exactly', async () => {
  const dollar18 = await deployDollar18();
  const dollars = {
    6: world.usdc,
    18: dollar18,
  } as const;
  const { address } = world.wallet;
  let offered = '';
  const cases = fc.record({
    decimals: fc.constantFrom(6 as const, 18 as const),
    cents: fc.bigInt({ min: 110n, max: 900_000n }),
    dust: fc.bigInt({ min: 0n, max: 10n ** 16n - 1n }),
    fee: fc.integer({ min: 0, max: 1000 }),
    price: fc.bigInt({ min: 10n ** 16n, max: 5_000n * 10n ** 18n }),
  });
  await fc.assert(
    fc.asyncProperty(cases, async ({ decimals, cents, dust, fee, price }) => {
      time += 60_000;
      world.app.clock.set(time);
      const funding = dollars[decimals];
      await world.setPrice('AAPLon', price);
      await world.call(ownerKey, world.deployment.swap, tokenizedSwap, 'setFee', [
        BigInt(fee),
        roles.owner.address,
      ]);
      const terms = `${fee} ${decimals}`;
      // An offer with orders cannot change its funding token, so the orders are deleted first.
      await world.app.ctx.db.deleteFrom('tokenized_orders').execute();
      if (terms !== offered)
        await makeOffer(world.app.ctx, appleFile(world.deployment, funding, { fee_bps: fee }));
      offered = terms;
      await waitForOffer(fee, funding);
      const amount = decimals === 6 ? cents * 10_000n + dust / 10n ** 12n : cents * 10n ** 16n + dust;
      const { status, body } = await order({ amount: amount.toString() });
      expect([status, body.code, body.errors]).toEqual([200, undefined, undefined]);
      const net = (amount * 10_000n) / (10_000n + BigInt(fee));
      expect([body.fee, body.notional_value, body.pay_input_decimals]).toEqual([
        String(amount - net),
        String(net),
        decimals,
      ]);
      const before = [await balance(funding, address), await balance(asset(), address)] as const;
      const fees = await balance(funding, roles.owner.address);
      expect(await broadcast(body)).toBe('success');
      expect(before[0] - (await balance(funding, address))).toBe(amount);
      expect((await balance(asset(), address)) - before[1]).toBe(BigInt(String(body.receive_output_amount)));
      expect((await balance(funding, roles.owner.address)) - fees).toBe(amount - net);
    }),
    { numRuns: RUNS },
  );
}, 400_000);

/** Waits until the cache has been notified of the changed offer. */
async function waitForOffer(fee: number, funding: Hex): Promise<void> {
  for (;;) {
    const { byKey } = await world.app.ctx.offers.of(partnerOf('partner-one'));
    const offer = byKey.get('apple');
    if (offer?.fee_bps === fee && offer.contracts[0]?.funding_tokens[0]?.address === funding) return;
    await sleep(5);
  }
}

async function deployDollar18(): Promise<Hex> {
  const whole = await world.chain.create(token, [roles.owner.address, 'Whole Dollar', 'USDW', 18]);
  const { converter, swap } = world.deployment;
  const venueOwner = deriveSandboxKey('venue owner');
  await world.call(venueOwner, converter, venueConverter, 'setPrice', [whole, 10n ** 18n, 2n ** 40n]);
  await world.call(ownerKey, whole, token, 'mint', [world.wallet.address, 10n ** 26n]);
  await world.call(world.wallet.key, whole, token, 'approve', [swap, maxUint256]);
  return whole;
}
