import { beforeEach, describe, expect, it } from 'vitest';
import { type Chain, expectRevert, people, send, startChain } from '../chain.ts';
import { balanceOf } from '../tokens.ts';
import { unit } from '../venue/venue.ts';
import { deployTokenized, type Setting, signedSwap } from './swap.ts';

const { alice, treasury } = people;
const start = 10n ** 22n;
let chain: Chain;
let setting: Setting;

beforeEach(async () => {
  chain = await startChain();
  setting = await deployTokenized(chain);
});

describe('a sell', () => {
  it('redeems, takes its fee from the proceeds and pays the caller', async () => {
    const { swap, venue } = setting;
    const call = await signedSwap(chain, setting, { quote: { side: 1 }, request: { amount: 995_000_000n } });
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

  it('refuses to pay less than the minimum, fee deducted', async () => {
    const call = await signedSwap(chain, setting, { quote: { side: 1 }, request: { amount: 995_000_001n } });
    await expectRevert(chain, alice, call, '0x5945ea56');
  });

  it('counts apart from buys: the pair has a direction', async () => {
    await send(chain, alice, await signedSwap(chain, setting));
    await send(
      chain,
      alice,
      await signedSwap(chain, setting, { quote: { side: 1 }, request: { amount: 0n } }),
    );
    const again = { quote: { side: 1 }, request: { amount: 0n } };
    await expectRevert(chain, alice, await signedSwap(chain, setting, again), '0x82b42900');
    await send(
      chain,
      alice,
      await signedSwap(chain, setting, { ...again, request: { amount: 0n, nonce: 1n } }),
    );
  });
});
