import { beforeEach, describe, expect, it } from 'vitest';
import { type Chain, expectRevert, people, send, startChain } from '../chain.ts';
import { admit, deploySwap, deploySwapV1 } from './swap.ts';

const { alice, mallory, owner } = people;
let chain: Chain;

beforeEach(async () => {
  chain = await startChain();
});

describe('the older generation', () => {
  it('stops swaps by its level in a mask, and resumes', async () => {
    const { swap, dollar } = await deploySwapV1(chain, { swapLevel: 8 });
    await admit(chain, swap.address, dollar, alice, 3_000_000n);
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

  it('fails when its market does not trade', async () => {
    const { swap, dollar, market } = await deploySwapV1(chain);
    await admit(chain, swap.address, dollar, alice, 1_000_000n);
    await send(chain, owner, { ...market, functionName: 'setState', args: [1] });
    const call = { ...swap, functionName: 'swap', args: [dollar.address, 1_000_000n, 0n] };
    await expectRevert(chain, alice, call, '0x80cb55e2');
  });
});

describe('the newer generation', () => {
  async function begin(swapLevel = 2) {
    const setting = await deploySwap(chain, { swapLevel });
    await admit(chain, setting.swap.address, setting.dollar, alice, 9_000_000n);
    const { swap, dollar, market } = setting;
    return {
      swap,
      call: { ...swap, functionName: 'swap', args: [dollar.address, 1_000_000n, 0n] },
      status: () => chain.client.readContract({ ...swap, functionName: 'status' }),
      pause: (flags: number) => send(chain, owner, { ...swap, functionName: 'pause', args: [flags] }),
      setMarket: (state: number) =>
        send(chain, owner, { ...market, functionName: 'setState', args: [state] }),
    };
  }

  it('is active with no flag of its own level', async () => {
    const { status, pause, call } = await begin();
    expect(await status()).toEqual([0, 0]);
    await pause(4);
    expect(await status()).toEqual([0, 4]);
    await send(chain, alice, call);
  });

  it('pauses by its level in a mask, names the mask, and resumes', async () => {
    const { swap, status, pause, call } = await begin(16);
    await pause(16 + 1);
    expect(await chain.client.readContract({ ...swap, functionName: 'paused' })).toBe(17);
    expect(await chain.client.readContract({ ...swap, functionName: 'stopped' })).toBe(false);
    expect(await status()).toEqual([1, 17]);
    await expectRevert(chain, alice, call, '0x7f218813', [17n]);
    await pause(0);
    await send(chain, alice, call);
  });

  it('stops for good', async () => {
    const { swap, status, pause, call } = await begin();
    await send(chain, owner, { ...swap, functionName: 'stop' });
    await pause(0);
    expect(await chain.client.readContract({ ...swap, functionName: 'stopped' })).toBe(true);
    expect(await status()).toEqual([2, 0]);
    await expectRevert(chain, alice, call, '0xd05c7c78');
  });

  it('is paused with its market, and stopped when that closes', async () => {
    const { status, setMarket, call } = await begin();
    await setMarket(1);
    expect(await status()).toEqual([1, 2]);
    await expectRevert(chain, alice, call, '0x7f218813', [2n]);
    await setMarket(0);
    await send(chain, alice, call);
    await setMarket(2);
    expect(await status()).toEqual([2, 2]);
    await expectRevert(chain, alice, call, '0xd05c7c78');
  });

  it('is stopped and paused by the owner alone', async () => {
    const { swap } = await begin();
    await expectRevert(chain, mallory, { ...swap, functionName: 'stop' }, '0x82b42900');
    await expectRevert(chain, mallory, { ...swap, functionName: 'pause', args: [2] }, '0x82b42900');
  });
});
