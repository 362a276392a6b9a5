import { beforeEach, describe, expect, it } from 'vitest';
import { accounts, type Chain, expectRevert, send, startChain } from '../chain.ts';
import { allowAndFund, deploySwap, deploySwapV1 } from './swap.ts';

const { alice, mallory, owner } = accounts;
let chain: Chain;

beforeEach(async () => {
  chain = await startChain();
});

describe('the older fund swap', () => {
  it('stops and resumes swaps by its level in the stop mask', async () => {
    const { swap, dollar } = await deploySwapV1(chain, { swapLevel: 8 });
    await allowAndFund(chain, swap.address, dollar, alice, 3_000_000n);
    const call = { ...swap, functionName: 'swap', args: [dollar.address, 1_000_000n, 0n] };
    const stop = (level: bigint) => send(chain, owner, { ...swap, functionName: 'stop', args: [level] });

    expect(await chain.client.readContract({ ...swap, functionName: 'SWAP_LEVEL' })).toBe(8n);
    await stop(8n + 1n);
    await expectRevert(chain, alice, call, '0xd05c7c78');
    expect(await chain.client.readContract({ ...swap, functionName: 'stopped' })).toBe(9n);
    await stop(2n ** 255n + 7n);
    await send(chain, alice, call);
    await stop(0n);
    await send(chain, alice, call);
    await expectRevert(chain, mallory, { ...swap, functionName: 'stop', args: [8n] }, '0x82b42900');
  });

  it('reverts if its market is paused', async () => {
    const { swap, dollar, market } = await deploySwapV1(chain);
    await allowAndFund(chain, swap.address, dollar, alice, 1_000_000n);
    await send(chain, owner, { ...market, functionName: 'setState', args: [1] });
    const call = { ...swap, functionName: 'swap', args: [dollar.address, 1_000_000n, 0n] };
    await expectRevert(chain, alice, call, '0x80cb55e2');
  });
});

describe('the newer fund swap', () => {
  async function setUp(swapLevel = 2) {
    const deployment = await deploySwap(chain, { swapLevel });
    await allowAndFund(chain, deployment.swap.address, deployment.dollar, alice, 9_000_000n);
    const { swap, dollar, market } = deployment;
    return {
      swap,
      call: { ...swap, functionName: 'swap', args: [dollar.address, 1_000_000n, 0n] },
      status: () => chain.client.readContract({ ...swap, functionName: 'status' }),
      pause: (flags: number) => send(chain, owner, { ...swap, functionName: 'pause', args: [flags] }),
      setMarket: (state: number) =>
        send(chain, owner, { ...market, functionName: 'setState', args: [state] }),
    };
  }

  it('stays active if the mask does not include its level', async () => {
    const { status, pause, call } = await setUp();
    expect(await status()).toEqual([0, 0]);
    await pause(4);
    expect(await status()).toEqual([0, 4]);
    await send(chain, alice, call);
  });

  it('pauses by its level in the mask, reports the mask and resumes', async () => {
    const { swap, status, pause, call } = await setUp(16);
    await pause(16 + 1);
    expect(await chain.client.readContract({ ...swap, functionName: 'paused' })).toBe(17);
    expect(await chain.client.readContract({ ...swap, functionName: 'stopped' })).toBe(false);
    expect(await status()).toEqual([1, 17]);
    await expectRevert(chain, alice, call, '0x7f218813', [17n]);
    await pause(0);
    await send(chain, alice, call);
  });

  it('stops permanently', async () => {
    const { swap, status, pause, call } = await setUp();
    await send(chain, owner, { ...swap, functionName: 'stop' });
    await pause(0);
    expect(await chain.client.readContract({ ...swap, functionName: 'stopped' })).toBe(true);
    expect(await status()).toEqual([2, 0]);
    await expectRevert(chain, alice, call, '0xd05c7c78');
  });

  it('is paused while its market is paused and stopped once its market is closed', async () => {
    const { status, setMarket, call } = await setUp();
    await setMarket(1);
    expect(await status()).toEqual([1, 2]);
    await expectRevert(chain, alice, call, '0x7f218813', [2n]);
    await setMarket(0);
    await send(chain, alice, call);
    await setMarket(2);
    expect(await status()).toEqual([2, 2]);
    await expectRevert(chain, alice, call, '0xd05c7c78');
  });

  it('can be stopped and paused only by the owner', async () => {
    const { swap } = await setUp();
    await expectRevert(chain, mallory, { ...swap, functionName: 'stop' }, '0x82b42900');
    await expectRevert(chain, mallory, { ...swap, functionName: 'pause', args: [2] }, '0x82b42900');
  });
});
