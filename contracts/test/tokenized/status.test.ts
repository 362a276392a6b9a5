import { beforeEach, expect, it } from 'vitest';
import { accounts, type Chain, expectRevert, send, startChain } from '../chain.ts';
import { type Deployment, deployTokenized, signedSwap } from './swap.ts';

const { alice, mallory, owner } = accounts;
let chain: Chain;
let deployment: Deployment;

beforeEach(async () => {
  chain = await startChain();
  deployment = await deployTokenized(chain);
});

const status = () => chain.client.readContract({ ...deployment.swap, functionName: 'status' });
const assetStatus = () => {
  const args = [deployment.venue.asset.address] as const;
  return chain.client.readContract({ ...deployment.swap, functionName: 'status', args });
};
const pause = (flags: number) =>
  send(chain, owner, { ...deployment.swap, functionName: 'pause', args: [flags] });
const sell = { quote: { side: 1 }, request: { amount: 0n } };

it('the swap is active after deployment', async () => {
  expect(await status()).toEqual([0, 0]);
  expect(await chain.client.readContract({ ...deployment.swap, functionName: 'SWAP_LEVEL' })).toBe(2n);
});

it.each([
  { flags: 2, buys: false, sells: false },
  { flags: 4, buys: false, sells: true },
  { flags: 8, buys: true, sells: false },
  { flags: 1, buys: true, sells: true },
])('pause mask $flags: buys allowed $buys, sells allowed $sells', async ({ flags, buys, sells }) => {
  await pause(flags);
  expect(await status()).toEqual([buys && sells ? 0 : 1, flags]);
  const swaps = [
    { call: await signedSwap(chain, deployment), works: buys },
    { call: await signedSwap(chain, deployment, sell), works: sells },
  ];
  for (const { call, works } of swaps) {
    if (works) await send(chain, alice, call);
    else await expectRevert(chain, alice, call, '0x7f218813', [BigInt(flags)]);
  }
});

it('the swap stops permanently', async () => {
  await send(chain, owner, { ...deployment.swap, functionName: 'stop' });
  await pause(0);
  expect(await status()).toEqual([2, 0]);
  await expectRevert(chain, alice, await signedSwap(chain, deployment), '0xd05c7c78');
});

it("the status includes the venue's four pause flags", async () => {
  const { manager, asset } = deployment.venue;
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

it('only the owner can stop and pause the swap', async () => {
  for (const [functionName, args] of [
    ['stop', []],
    ['pause', [2]],
  ] as const) {
    await expectRevert(chain, mallory, { ...deployment.swap, functionName, args }, '0x82b42900');
  }
});
