import { beforeEach, describe, expect, it } from 'vitest';
import { accounts, type Chain, expectRevert, send, startChain } from '../chain.ts';
import { balanceOf } from '../tokens.ts';
import { unit } from '../venue/venue.ts';
import { type Deployment, deployTokenized, signedSwap } from './swap.ts';

const { alice, treasury } = accounts;
const start = 10n ** 22n;
let chain: Chain;
let deployment: Deployment;

beforeEach(async () => {
  chain = await startChain();
  deployment = await deployTokenized(chain);
});

describe('a sell', () => {
  it('redeems the asset, deducts the fee from the proceeds and pays the caller', async () => {
    const { swap, venue } = deployment;
    const call = await signedSwap(chain, deployment, {
      quote: { side: 1 },
      request: { amount: 995_000_000n },
    });
    await send(chain, alice, call);
    expect(await balanceOf(chain, venue.asset.address, alice.address)).toBe(start - 5n * unit);
    expect(await balanceOf(chain, venue.dollar.address, alice.address)).toBe(start + 995_000_000n);
    expect(await balanceOf(chain, venue.dollar.address, treasury.address)).toBe(5_000_000n);
    const args = [alice.address, venue.asset.address, venue.dollar.address] as const;
    expect(await chain.client.readContract({ ...swap, functionName: 'totals', args })).toEqual([
      5n * unit,
      5_000_000n,
      995_000_000n,
      1n,
    ]);
  });

  it('reverts if less than the minimum remains after the fee', async () => {
    const call = await signedSwap(chain, deployment, {
      quote: { side: 1 },
      request: { amount: 995_000_001n },
    });
    await expectRevert(chain, alice, call, '0x5945ea56');
  });

  it('has totals and a nonce separate from buys of the same pair', async () => {
    await send(chain, alice, await signedSwap(chain, deployment));
    await send(
      chain,
      alice,
      await signedSwap(chain, deployment, { quote: { side: 1 }, request: { amount: 0n } }),
    );
    const again = { quote: { side: 1 }, request: { amount: 0n } };
    await expectRevert(chain, alice, await signedSwap(chain, deployment, again), '0x82b42900');
    await send(
      chain,
      alice,
      await signedSwap(chain, deployment, { ...again, request: { amount: 0n, nonce: 1n } }),
    );
  });
});
