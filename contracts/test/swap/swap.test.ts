import { decodeEventLog, padHex } from 'viem';
import { beforeEach, describe, expect, it } from 'vitest';
import { fundSwap } from '../../abi/fund-swap.ts';
import { feeOnTransferToken } from '../../abi/test/fee-on-transfer-token.ts';
import { lyingMarket } from '../../abi/test/lying-market.ts';
import { reentrantToken } from '../../abi/test/reentrant-token.ts';
import { accounts, type Chain, deploy, encodeCall, expectRevert, send, startChain } from '../chain.ts';
import { balanceOf, deployTetherLike, mintAndApprove } from '../tokens.ts';
import {
  allowAndFund,
  type Deployment,
  deployMarket,
  deploySwap,
  grantBuyRole,
  price,
  supply,
  swapConfig,
} from './swap.ts';

const { alice, mallory, owner, treasury, venue } = accounts;
let chain: Chain;
let deployment: Deployment;

beforeEach(async () => {
  chain = await startChain();
  deployment = await deploySwap(chain);
});

const swapCall = (token: string, amount: bigint, minOut: bigint) => ({
  ...deployment.swap,
  functionName: 'swap',
  args: [token, amount, minOut],
});

describe('swap', () => {
  it('pays the market and the fee, delivers the asset and emits Swapped with the exact topic', async () => {
    const { swap, dollar, asset } = deployment;
    await allowAndFund(chain, swap.address, dollar, alice, 1_005_000_000n);
    const output = (1_000_000_000n * 10n ** 18n) / price;
    const { logs } = await send(chain, alice, swapCall(dollar.address, 1_005_000_000n, output));

    expect(await balanceOf(chain, dollar.address, alice.address)).toBe(0n);
    expect(await balanceOf(chain, dollar.address, venue.address)).toBe(1_000_000_000n);
    expect(await balanceOf(chain, dollar.address, treasury.address)).toBe(5_000_000n);
    expect(await balanceOf(chain, asset.address, alice.address)).toBe(output);
    expect(await balanceOf(chain, dollar.address, swap.address)).toBe(0n);

    const log = logs.find((entry) => entry.address === swap.address);
    expect(log?.topics).toEqual([
      '0xc9163c3bdf7263acf1bb3d24072cc7da025f7181c31e2edc7e1673edf5e0ca32',
      ...[alice.address, dollar.address, asset.address].map((it) => padHex(it, { size: 32 }).toLowerCase()),
    ]);
    const { args } = decodeEventLog({ abi: swap.abi, data: log?.data ?? '0x', topics: log?.topics ?? [] });
    expect(args).toMatchObject({ inputAmount: 1_000_000_000n, fee: 5_000_000n, outputAmount: output });
  });

  it('takes only the cost of the remaining supply and its fee if the supply is short', async () => {
    const { swap, dollar, asset } = deployment;
    const all = (supply * price) / 10n ** 18n;
    const fee = (all * 50n) / 10_000n;
    await allowAndFund(chain, swap.address, dollar, alice, 2n * all);
    await send(chain, alice, swapCall(dollar.address, 2n * all, supply));
    expect(await balanceOf(chain, dollar.address, alice.address)).toBe(2n * all - all - fee);
    expect(await balanceOf(chain, asset.address, alice.address)).toBe(supply);
    await expectRevert(chain, alice, swapCall(dollar.address, 1_000n, 0n), '0x2c5211c6');
  });

  it('requires an allowed wallet', async () => {
    await mintAndApprove(chain, deployment.dollar, mallory, deployment.swap.address, 1_000_000n);
    await expectRevert(chain, mallory, swapCall(deployment.dollar.address, 1_000_000n, 0n), '0x82b42900');
  });

  it('reverts if less than the minimum would be delivered', async () => {
    const { swap, dollar } = deployment;
    await allowAndFund(chain, swap.address, dollar, alice, 1_005_000_000n);
    const output = (1_000_000_000n * 10n ** 18n) / price;
    await expectRevert(chain, alice, swapCall(dollar.address, 1_005_000_000n, output + 1n), '0x5945ea56');
  });

  it('rejects an amount that buys nothing', async () => {
    const { swap, dollar } = deployment;
    await allowAndFund(chain, swap.address, dollar, alice, 1n);
    await expectRevert(chain, alice, swapCall(dollar.address, 0n, 0n), '0x2c5211c6');
  });

  it('rejects a token that the market does not accept', async () => {
    await allowAndFund(chain, deployment.swap.address, deployment.dollar, alice, 1n);
    const { address } = deployment.asset;
    await expectRevert(chain, alice, swapCall(address, 1_000n, 0n), '0xabe7443d', [address]);
  });

  it('accepts a token without return values that requires resetting allowances', async () => {
    const { swap, market, asset } = deployment;
    const tether = await deployTetherLike(chain);
    await send(chain, owner, { ...market, functionName: 'setPrice', args: [tether.address, price] });
    await allowAndFund(chain, swap.address, deployment.dollar, alice, 1n);
    await mintAndApprove(chain, tether, alice, swap.address, 2_010_000_000n);
    for (const round of [1n, 2n]) {
      await send(chain, alice, swapCall(tether.address, 1_005_000_000n, 0n));
      expect(await balanceOf(chain, asset.address, alice.address)).toBe((round * 10n ** 27n) / price);
    }
  });

  it('rejects a fee-on-transfer token', async () => {
    const { swap, market, asset } = deployment;
    const token = await deploy(chain, feeOnTransferToken);
    await send(chain, owner, { ...market, functionName: 'setPrice', args: [token.address, price] });
    await allowAndFund(chain, swap.address, deployment.dollar, alice, 1n);
    await mintAndApprove(chain, token, alice, swap.address, 1_005_000_000n);
    const call = swapCall(token.address, 1_005_000_000n, 0n);
    await expectRevert(chain, alice, call, '0xfe6bbaf9', [token.address, asset.address]);
  });

  it('cannot be reentered by the token it pulls', async () => {
    const { swap, market } = deployment;
    const token = await deploy(chain, reentrantToken);
    await send(chain, owner, { ...market, functionName: 'setPrice', args: [token.address, price] });
    await allowAndFund(chain, swap.address, deployment.dollar, alice, 1n);
    await mintAndApprove(chain, token, alice, swap.address, 1_005_000_000n);
    const inner = encodeCall(swapCall(token.address, 1_000n, 0n));
    await send(chain, owner, { ...token, functionName: 'arm', args: [swap.address, inner] });
    await send(chain, alice, swapCall(token.address, 1_005_000_000n, 0n));
    expect(await chain.client.readContract({ ...token, functionName: 'answer' })).toBe('0xab143c06');
  });

  it('rejects a market that delivers less than it quoted', async () => {
    const { market, dollar, asset } = await deployMarket(chain, lyingMarket);
    const swap = await deploy(chain, fundSwap, [swapConfig(market.address, {})]);
    await grantBuyRole(chain, market, swap.address);
    await allowAndFund(chain, swap.address, dollar, alice, 1_005_000_000n);
    const call = { ...swap, functionName: 'swap', args: [dollar.address, 1_005_000_000n, 0n] };
    await expectRevert(chain, alice, call, '0xfe6bbaf9', [dollar.address, asset.address]);
  });

  it('lets only the owner change the fee, up to 10%', async () => {
    const change = (bps: bigint) => ({
      ...deployment.swap,
      functionName: 'setFee',
      args: [bps, treasury.address],
    });
    await expectRevert(chain, alice, change(10n), '0x82b42900');
    await expectRevert(chain, owner, change(1_001n), '0x7b931420', [1_001n]);
    await send(chain, owner, change(1_000n));
    expect(await chain.client.readContract({ ...deployment.swap, functionName: 'feeBps' })).toBe(1_000n);
  });
});
