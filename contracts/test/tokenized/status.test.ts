import { beforeEach, expect, it } from 'vitest';
import { type Chain, expectRevert, people, send, startChain } from '../chain.ts';
import { deployTokenized, type Setting, signedSwap } from './swap.ts';

const { alice, mallory, owner } = people;
let chain: Chain;
let setting: Setting;

beforeEach(async () => {
  chain = await startChain();
  setting = await deployTokenized(chain);
});

const status = () => chain.client.readContract({ ...setting.swap, functionName: 'status' });
const assetStatus = () => {
  const args = [setting.venue.asset.address] as const;
  return chain.client.readContract({ ...setting.swap, functionName: 'status', args });
};
const pause = (flags: number) =>
  send(chain, owner, { ...setting.swap, functionName: 'pause', args: [flags] });
const sell = { quote: { side: 1 }, request: { amount: 0n } };

it('is active at first', async () => {
  expect(await status()).toEqual([0, 0]);
  expect(await chain.client.readContract({ ...setting.swap, functionName: 'SWAP_LEVEL' })).toBe(2n);
});

it.each([
  { flags: 2, buys: false, sells: false },
  { flags: 4, buys: false, sells: true },
  { flags: 8, buys: true, sells: false },
  { flags: 1, buys: true, sells: true },
])('mask $flags: buys $buys, sells $sells', async ({ flags, buys, sells }) => {
  await pause(flags);
  expect(await status()).toEqual([buys && sells ? 0 : 1, flags]);
  const swaps = [
    { call: await signedSwap(chain, setting), works: buys },
    { call: await signedSwap(chain, setting, sell), works: sells },
  ];
  for (const { call, works } of swaps) {
    if (works) await send(chain, alice, call);
    else await expectRevert(chain, alice, call, '0x7f218813', [BigInt(flags)]);
  }
});

it('stops for good', async () => {
  await send(chain, owner, { ...setting.swap, functionName: 'stop' });
  await pause(0);
  expect(await status()).toEqual([2, 0]);
  await expectRevert(chain, alice, await signedSwap(chain, setting), '0xd05c7c78');
});

it("folds in the venue's four pause flags", async () => {
  const { manager, asset } = setting.venue;
  await send(chain, owner, { ...manager, functionName: 'setTokenPause', args: [asset.address, true, false] });
  expect([await status(), await assetStatus()]).toEqual([
    [0, 0],
    [1, 4],
  ]);
  await send(chain, owner, { ...manager, functionName: 'setTokenPause', args: [asset.address, false, true] });
  expect([await status(), await assetStatus()]).toEqual([
    [0, 0],
    [1, 8],
  ]);
  await send(chain, owner, { ...manager, functionName: 'setGlobalPause', args: [true, false] });
  expect([await status(), await assetStatus()]).toEqual([
    [1, 4],
    [1, 12],
  ]);
  await send(chain, owner, { ...manager, functionName: 'setGlobalPause', args: [false, true] });
  expect(await status()).toEqual([1, 8]);
});

it('is stopped and paused by the owner alone', async () => {
  for (const [functionName, args] of [
    ['stop', []],
    ['pause', [2]],
  ] as const) {
    await expectRevert(chain, mallory, { ...setting.swap, functionName, args }, '0x82b42900');
  }
});
