import fc from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import { accounts, type Chain, expectRevert, send, startChain, withSnapshot } from '../chain.ts';
import { type Deployment, deployTokenized } from './swap.ts';

const { alice, owner, treasury } = accounts;
const maxUint256 = 2n ** 256n - 1n;
let chain: Chain;
let deployment: Deployment;

beforeAll(async () => {
  chain = await startChain();
  deployment = await deployTokenized(chain);
});

const fee = (side: number, amount: bigint) =>
  chain.client.readContract({ ...deployment.swap, functionName: 'fee', args: [side, amount] });
const setFee = (bps: bigint) => ({
  ...deployment.swap,
  functionName: 'setFee',
  args: [bps, treasury.address],
});

const bpsRange = fc.bigInt({ min: 0n, max: 1_000n });
const amounts = fc.array(
  fc.oneof(
    fc.bigInt({ min: 0n, max: 10n ** 9n }),
    fc.bigInt({ min: 0n, max: maxUint256 }),
    fc.constant(maxUint256),
  ),
  { minLength: 4, maxLength: 8 },
);

function property(check: (bps: bigint, amount: bigint) => Promise<void>) {
  return fc.assert(
    fc.asyncProperty(bpsRange, amounts, (bps, amountList) =>
      withSnapshot(chain, async () => {
        await send(chain, owner, setFee(bps));
        for (const amount of amountList) await check(bps, amount);
      }),
    ),
    { numRuns: 30 },
  );
}

it('the fee of a buy is part of the gross amount, with the net rounded down', () =>
  property(async (bps, amount) => {
    const [cut, net] = await fee(0, amount);
    expect(net).toBe((amount * 10_000n) / (10_000n + bps));
    expect(cut + net).toBe(amount);
    expect(cut * 10_000n >= net * bps).toBe(true);
  }));

it('the fee of a sell is deducted from the proceeds, rounded down', () =>
  property(async (bps, amount) => {
    const [cut, net] = await fee(1, amount);
    expect(cut).toBe((amount * bps) / 10_000n);
    expect(cut + net).toBe(amount);
  }));

it('gross-up: ceil((N + 1) × (10000 + bps) / 10000) − 1 is the largest gross whose net is at most N', () =>
  property(async (bps, amount) => {
    const net = amount / 4n;
    const numerator = (net + 1n) * (10_000n + bps);
    const largest = (numerator + 9_999n) / 10_000n - 1n;
    expect((await fee(0, largest))[1] <= net).toBe(true);
    expect((await fee(0, largest + 1n))[1] > net).toBe(true);
  }));

it('only sides 0 and 1 and fees up to 10% are valid', async () => {
  await expectRevert(chain, alice, { ...deployment.swap, functionName: 'fee', args: [2, 1n] }, '0x0dfa289a');
  await expectRevert(chain, owner, setFee(1_001n), '0x7b931420', [1_001n]);
  await expectRevert(chain, alice, setFee(1n), '0x82b42900');
});
