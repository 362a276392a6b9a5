import fc from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import { aside, type Chain, expectRevert, people, send, startChain } from '../chain.ts';
import { deployTokenized, type Setting } from './swap.ts';

const { alice, owner, treasury } = people;
const most = 2n ** 256n - 1n;
let chain: Chain;
let setting: Setting;

beforeAll(async () => {
  chain = await startChain();
  setting = await deployTokenized(chain);
});

const fee = (side: number, amount: bigint) =>
  chain.client.readContract({ ...setting.swap, functionName: 'fee', args: [side, amount] });
const setFee = (bps: bigint) => ({ ...setting.swap, functionName: 'setFee', args: [bps, treasury.address] });

const bpsRange = fc.bigInt({ min: 0n, max: 1_000n });
const amounts = fc.array(
  fc.oneof(fc.bigInt({ min: 0n, max: 10n ** 9n }), fc.bigInt({ min: 0n, max: most }), fc.constant(most)),
  { minLength: 4, maxLength: 8 },
);

function property(check: (bps: bigint, amount: bigint) => Promise<void>) {
  return fc.assert(
    fc.asyncProperty(bpsRange, amounts, (bps, asked) =>
      aside(chain, async () => {
        await send(chain, owner, setFee(bps));
        for (const amount of asked) await check(bps, amount);
      }),
    ),
    { numRuns: 30 },
  );
}

it('on a buy, is in the gross: the parts make the whole, the net is rounded down', () =>
  property(async (bps, amount) => {
    const [cut, net] = await fee(0, amount);
    expect(net).toBe((amount * 10_000n) / (10_000n + bps));
    expect(cut + net).toBe(amount);
    expect(cut * 10_000n >= net * bps).toBe(true);
  }));

it('on a sell, comes off the proceeds, rounded down', () =>
  property(async (bps, amount) => {
    const [cut, net] = await fee(1, amount);
    expect(cut).toBe((amount * bps) / 10_000n);
    expect(cut + net).toBe(amount);
  }));

it('grosses up: ceil((N + 1) × (10000 + bps) / 10000) − 1 is the largest gross whose net is at most N', () =>
  property(async (bps, amount) => {
    const net = amount / 4n;
    const numerator = (net + 1n) * (10_000n + bps);
    const largest = (numerator + 9_999n) / 10_000n - 1n;
    expect((await fee(0, largest))[1] <= net).toBe(true);
    expect((await fee(0, largest + 1n))[1] > net).toBe(true);
  }));

it('knows two sides and at most a tenth', async () => {
  await expectRevert(chain, alice, { ...setting.swap, functionName: 'fee', args: [2, 1n] }, '0x0dfa289a');
  await expectRevert(chain, owner, setFee(1_001n), '0x7b931420', [1_001n]);
  await expectRevert(chain, alice, setFee(1n), '0x82b42900');
});
