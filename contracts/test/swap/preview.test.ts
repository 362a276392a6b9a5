import fc from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import { aside, type Chain, people, send, startChain } from '../chain.ts';
import { balanceOf } from '../tokens.ts';
import { admit, deploySwap, price, type Setting, supply } from './swap.ts';

const { owner, treasury } = people;
const most = 2n ** 256n - 1n;
const unit = 10n ** 18n;
let chain: Chain;
let setting: Setting;

beforeAll(async () => {
  chain = await startChain();
  setting = await deploySwap(chain);
});

const preview = (amount: bigint) =>
  chain.client.readContract({
    ...setting.swap,
    functionName: 'preview',
    args: [setting.dollar.address, amount],
  });

const amounts = fc.oneof(
  fc.bigInt({ min: 0n, max: 10n ** 10n }),
  fc.bigInt({ min: 0n, max: most }),
  fc.constantFrom(0n, 1n, most - 1n, most),
);

it('splits every amount exactly, to the last unit, for every fee', async () => {
  const all = (supply * price) / unit;
  await fc.assert(
    fc.asyncProperty(fc.bigInt({ min: 0n, max: 1_000n }), fc.array(amounts, { minLength: 5 }), (bps, asked) =>
      aside(chain, async () => {
        await send(chain, owner, { ...setting.swap, functionName: 'setFee', args: [bps, treasury.address] });
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

it('says what swap then does', async () => {
  const { dollar, swap } = setting;
  await fc.assert(
    fc.asyncProperty(fc.bigInt({ min: 10n, max: 4n * 10n ** 9n }), (amount) =>
      aside(chain, async () => {
        const [input, fee, output] = await preview(amount);

        await admit(chain, swap.address, dollar, people.alice, amount);
        await send(chain, people.alice, {
          ...swap,
          functionName: 'swap',
          args: [dollar.address, amount, output],
        });
        expect(await balanceOf(chain, dollar.address, people.alice.address)).toBe(amount - input - fee);
        expect(await balanceOf(chain, setting.asset.address, people.alice.address)).toBe(output);
      }),
    ),
    { numRuns: 25 },
  );
});

it('rounds the cost of the last supply up, so that nothing is sold below its price', async () => {
  await aside(chain, async () => {
    const { market } = setting;
    await send(chain, owner, { ...market, functionName: 'withdraw', args: [supply - 1n] });
    expect(await chain.client.readContract({ ...market, functionName: 'supply' })).toBe(1n);
    expect(await preview(10n ** 9n)).toEqual([1n, 0n, 1n]);
    await send(chain, owner, { ...market, functionName: 'withdraw', args: [1n] });
    expect(await preview(10n ** 9n)).toEqual([0n, 0n, 0n]);
  });
});
