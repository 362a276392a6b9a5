import fc from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import { accounts, type Chain, send, startChain, withSnapshot } from '../chain.ts';
import { balanceOf } from '../tokens.ts';
import { allowAndFund, type Deployment, deploySwap, price, supply } from './swap.ts';

const { owner, treasury } = accounts;
const most = 2n ** 256n - 1n;
const unit = 10n ** 18n;
let chain: Chain;
let deployment: Deployment;

beforeAll(async () => {
  chain = await startChain();
  deployment = await deploySwap(chain);
});

const preview = (amount: bigint) =>
  chain.client.readContract({
    ...deployment.swap,
    functionName: 'preview',
    args: [deployment.dollar.address, amount],
  });

const amounts = fc.oneof(
  fc.bigInt({ min: 0n, max: 10n ** 10n }),
  fc.bigInt({ min: 0n, max: most }),
  fc.constantFrom(0n, 1n, most - 1n, most),
);

it('preview splits every amount exactly, for every fee', async () => {
  const all = (supply * price) / unit;
  await fc.assert(
    fc.asyncProperty(fc.bigInt({ min: 0n, max: 1_000n }), fc.array(amounts, { minLength: 5 }), (bps, asked) =>
      withSnapshot(chain, async () => {
        await send(chain, owner, {
          ...deployment.swap,
          functionName: 'setFee',
          args: [bps, treasury.address],
        });
        for (const amount of asked) {
          const [input, fee, output] = await preview(amount);
          const net = (amount * 10_000n) / (10_000n + bps);
          expect(input).toBe(net < all ? net : all);
          expect(fee).toBe(input === net ? amount - net : (input * bps) / 10_000n);
          expect(output).toBe((input * unit) / price);
          expect(input + fee <= amount).toBe(true);
          if (input === net) expect(input + fee).toBe(amount);
        }
      }),
    ),
    { numRuns: 40 },
  );
});

it('preview matches the swap that follows', async () => {
  const { dollar, swap } = deployment;
  await fc.assert(
    fc.asyncProperty(fc.bigInt({ min: 10n, max: 4n * 10n ** 9n }), (amount) =>
      withSnapshot(chain, async () => {
        const [input, fee, output] = await preview(amount);

        await allowAndFund(chain, swap.address, dollar, accounts.alice, amount);
        await send(chain, accounts.alice, {
          ...swap,
          functionName: 'swap',
          args: [dollar.address, amount, output],
        });
        expect(await balanceOf(chain, dollar.address, accounts.alice.address)).toBe(amount - input - fee);
        expect(await balanceOf(chain, deployment.asset.address, accounts.alice.address)).toBe(output);
      }),
    ),
    { numRuns: 25 },
  );
});

it('preview rounds up the cost of the remaining supply, so nothing is sold below its price', async () => {
  await withSnapshot(chain, async () => {
    const { market } = deployment;
    await send(chain, owner, { ...market, functionName: 'withdraw', args: [supply - 1n] });
    expect(await chain.client.readContract({ ...market, functionName: 'supply' })).toBe(1n);
    expect(await preview(10n ** 9n)).toEqual([1n, 0n, 1n]);
    await send(chain, owner, { ...market, functionName: 'withdraw', args: [1n] });
    expect(await preview(10n ** 9n)).toEqual([0n, 0n, 0n]);
  });
});
