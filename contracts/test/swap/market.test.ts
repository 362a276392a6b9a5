import { beforeEach, expect, it } from 'vitest';
import { accounts, type Chain, expectRevert, send, startChain } from '../chain.ts';
import { balanceOf, type Erc20, mintAndApprove } from '../tokens.ts';
import { deployMarket, grantBuyRole, type Market, price, supply } from './swap.ts';

const { alice, mallory, owner, venue } = accounts;
let chain: Chain;
let market: Market;
let dollar: Erc20;
let asset: Erc20;

beforeEach(async () => {
  chain = await startChain();
  ({ market, dollar, asset } = await deployMarket(chain));
  await grantBuyRole(chain, market, alice.address);
});

it('the market sells only to buyers with the role, so no wallet can bypass a swap', async () => {
  await mintAndApprove(chain, dollar, mallory, market.address, price);
  await expectRevert(
    chain,
    mallory,
    { ...market, functionName: 'buy', args: [dollar.address, price] },
    '0x82b42900',
  );
});

it('the market sells at its posted price from its own balance', async () => {
  await mintAndApprove(chain, dollar, alice, market.address, 5n * price);
  await send(chain, alice, { ...market, functionName: 'buy', args: [dollar.address, 5n * price] });
  expect(await balanceOf(chain, asset.address, alice.address)).toBe(5n * 10n ** 18n);
  expect(await chain.client.readContract({ ...market, functionName: 'supply' })).toBe(
    supply - 5n * 10n ** 18n,
  );
});

it('a buy is filled completely or reverts; only a quote can be partial', async () => {
  const all = (supply * price) / 10n ** 18n;
  await mintAndApprove(chain, dollar, alice, market.address, all + 1n);
  await expectRevert(
    chain,
    alice,
    { ...market, functionName: 'buy', args: [dollar.address, all + 1n] },
    '0x34af1ac1',
  );
  await send(chain, alice, { ...market, functionName: 'buy', args: [dollar.address, all] });
});

it('a closed market never trades again', async () => {
  await send(chain, owner, { ...market, functionName: 'setState', args: [2] });
  await expectRevert(chain, owner, { ...market, functionName: 'setState', args: [0] }, '0x80cb55e2');
  await expectRevert(
    chain,
    alice,
    { ...market, functionName: 'buy', args: [dollar.address, price] },
    '0x80cb55e2',
  );
});

it('only the owner manages the market, and unsold supply goes to the treasury', async () => {
  for (const [functionName, args] of [
    ['setPrice', [dollar.address, 1n]],
    ['setState', [1]],
    ['withdraw', [1n]],
  ] as const) {
    await expectRevert(chain, mallory, { ...market, functionName, args }, '0x82b42900');
  }
  await send(chain, owner, { ...market, functionName: 'withdraw', args: [supply] });
  expect(await balanceOf(chain, asset.address, venue.address)).toBe(supply);
});
