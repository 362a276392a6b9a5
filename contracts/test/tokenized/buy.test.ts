import { decodeEventLog, maxUint256, padHex, zeroAddress } from 'viem';
import { beforeEach, describe, expect, it } from 'vitest';
import { feeOnTransferToken } from '../../abi/test/fee-on-transfer-token.ts';
import { lyingManager } from '../../abi/test/lying-manager.ts';
import { tokenizedSwap } from '../../abi/tokenized-swap.ts';
import { accounts, type Chain, deploy, expectRevert, send, setTime, startChain } from '../chain.ts';
import { balanceOf, deployTetherLike } from '../tokens.ts';
import { makeQuote, signQuote, unit } from '../venue/venue.ts';
import {
  type Deployment,
  deployTokenized,
  gross,
  makeRequest,
  signedSwap,
  signRequest,
  swapConfig,
} from './swap.ts';

const { alice, operator, owner, treasury, mallory } = accounts;
let chain: Chain;
let deployment: Deployment;

beforeEach(async () => {
  chain = await startChain();
  deployment = await deployTokenized(chain);
});

const totals = () => {
  const { dollar, asset } = deployment.venue;
  const args = [alice.address, dollar.address, asset.address] as const;
  return chain.client.readContract({ ...deployment.swap, functionName: 'totals', args });
};

describe('a buy', () => {
  it('pays the venue and the fee, delivers to the caller, updates the totals and emits Swapped with the exact topic', async () => {
    const { swap, venue } = deployment;
    const call = await signedSwap(chain, deployment, { quote: { attestationId: 77n } });
    const { logs } = await send(chain, alice, call);

    expect(await balanceOf(chain, venue.dollar.address, alice.address)).toBe(10n ** 22n - gross);
    expect(await balanceOf(chain, venue.dollar.address, treasury.address)).toBe(5_000_000n);
    expect(await balanceOf(chain, venue.asset.address, alice.address)).toBe(10n ** 22n + 5n * unit);
    expect(await balanceOf(chain, venue.dollar.address, swap.address)).toBe(0n);
    expect(await balanceOf(chain, venue.asset.address, swap.address)).toBe(0n);
    expect(await totals()).toEqual([1_000_000_000n, 5_000_000n, 5n * unit, 1n]);

    const log = logs.find((entry) => entry.address === swap.address);
    expect(log?.topics).toEqual([
      '0xed16f185c3a00feb3f10831b5798e60555d44ff78d2ea3af48abc70ed48ac35c',
      ...[alice.address, venue.dollar.address, venue.asset.address].map((it) =>
        padHex(it, { size: 32 }).toLowerCase(),
      ),
    ]);
    const { args } = decodeEventLog({ abi: swap.abi, data: log?.data ?? '0x', topics: log?.topics ?? [] });
    expect(args).toMatchObject({
      attestationId: 77n,
      side: 0,
      inputAmount: 1_000_000_000n,
      fee: 5_000_000n,
      outputAmount: 5n * unit,
    });
  });

  it('leaves no allowance when the venue takes less than approved of its own dollar', async () => {
    const { swap, venue } = deployment;
    const { usdon } = venue;
    const amount = (gross + 9_000n) * 10n ** 12n;
    await send(chain, owner, { ...usdon, functionName: 'mint', args: [alice.address, amount] });
    await send(chain, alice, { ...usdon, functionName: 'approve', args: [swap.address, amount] });
    await send(chain, alice, await buyWith(usdon.address, 0n, amount));
    const args = [swap.address, venue.manager.address] as const;
    expect(await chain.client.readContract({ ...usdon, functionName: 'allowance', args })).toBe(0n);
    expect(await balanceOf(chain, usdon.address, swap.address)).toBeGreaterThan(0n);
  });

  it('keeps the surplus returned by the venue, which only the owner can withdraw', async () => {
    const { swap, venue } = deployment;
    await send(chain, alice, await signedSwap(chain, deployment, { request: { amount: gross + 9_000n } }));
    const dust = await balanceOf(chain, venue.usdon.address, swap.address);
    expect(dust).toBe(8_955n * 10n ** 12n);
    const take = { ...swap, functionName: 'withdraw', args: [venue.usdon.address, treasury.address, dust] };
    await expectRevert(chain, operator, take, '0x82b42900');
    await send(chain, owner, take);
    expect(await balanceOf(chain, venue.usdon.address, treasury.address)).toBe(dust);
  });

  it('accepts a surplus below a cent and rejects a full cent', async () => {
    const cent = 10_000n;
    const paying = (net: bigint) => ({ request: { amount: net + (net * 50n) / 10_000n } });
    await expectRevert(
      chain,
      alice,
      await signedSwap(chain, deployment, paying(1_000_000_000n + cent)),
      '0x2c5211c6',
    );
    await send(chain, alice, await signedSwap(chain, deployment, paying(1_000_000_000n + cent - 1n)));
  });

  it('reverts with an underflow if it pays less than the cost of the quote', async () => {
    const call = await signedSwap(chain, deployment, { request: { amount: gross - 1n } });
    await expectRevert(chain, alice, call, '0x4e487b71', [0x11n]);
  });

  it('requires the allowance and the balance', async () => {
    const { dollar } = deployment.venue;
    await send(chain, alice, {
      ...dollar,
      functionName: 'approve',
      args: [deployment.swap.address, gross - 1n],
    });
    await expectRevert(chain, alice, await signedSwap(chain, deployment), '0x7939f424');
  });

  it('is rejected by the venue after its expiry', async () => {
    const call = await signedSwap(chain, deployment, { quote: { expiration: 1_800_000_000n } });
    await setTime(chain, 1_800_000_001n);
    await expectRevert(chain, alice, call, '0x716dcc39');
  });

  it("passes the venue's errors through", async () => {
    const { manager, asset } = deployment.venue;
    await send(chain, owner, {
      ...manager,
      functionName: 'setTokenPause',
      args: [asset.address, true, false],
    });
    await expectRevert(chain, alice, await signedSwap(chain, deployment), '0x01c962ea');
  });

  it('accepts a funding token without return values that requires resetting allowances', async () => {
    const { venue, swap } = deployment;
    const tether = await deployTetherLike(chain);
    await send(chain, owner, { ...tether, functionName: 'mint', args: [alice.address, 2n * gross] });
    await send(chain, alice, { ...tether, functionName: 'approve', args: [swap.address, maxUint256] });
    await send(chain, owner, {
      ...venue.converter,
      functionName: 'setPrice',
      args: [tether.address, unit, 2n ** 40n],
    });
    for (const nonce of [0n, 1n]) await send(chain, alice, await buyWith(tether.address, nonce));
    expect(await balanceOf(chain, tether.address, alice.address)).toBe(0n);
  });

  it('rejects a fee-on-transfer token', async () => {
    const { swap, venue } = deployment;
    const token = await deploy(chain, feeOnTransferToken);
    await send(chain, owner, { ...token, functionName: 'mint', args: [alice.address, gross] });
    await send(chain, alice, { ...token, functionName: 'approve', args: [swap.address, maxUint256] });
    const call = await buyWith(token.address, 0n);
    await expectRevert(chain, alice, call, '0xfe6bbaf9', [token.address, venue.asset.address]);
  });

  it('rejects a venue that delivers less than it reports', async () => {
    const { venue } = deployment;
    const manager = await deploy(chain, lyingManager);
    const swap = await deploy(chain, tokenizedSwap, [swapConfig(manager.address)]);
    await send(chain, alice, { ...venue.dollar, functionName: 'approve', args: [swap.address, maxUint256] });
    // The contract already holds assets that belong to its owner. They must not make up for assets that the venue fails
    // to deliver.
    await send(chain, owner, { ...venue.asset, functionName: 'mint', args: [swap.address, 100n * unit] });
    deployment = { swap, venue };
    const call = await signedSwap(chain, deployment);
    await expectRevert(chain, alice, call, '0xfe6bbaf9', [venue.dollar.address, venue.asset.address]);
  });

  it('rejects zero addresses and a token swapped into itself', async () => {
    for (const token of [zeroAddress, deployment.venue.asset.address]) {
      await expectRevert(chain, alice, await buyWith(token, 0n), '0xe6c4247b');
    }
    await expectRevert(
      chain,
      alice,
      await signedSwap(chain, deployment, { quote: { asset: zeroAddress } }),
      '0xe6c4247b',
    );
    await expectRevert(
      chain,
      alice,
      await signedSwap(chain, deployment, { quote: { side: 2 } }),
      '0x0dfa289a',
    );
  });

  it('is rejected if the swap is not registered with the venue', async () => {
    const { registry } = deployment.venue;
    const none = `0x${'00'.repeat(32)}`;
    const args = ['0x428ECB70E90d1527A5f5e177789f51747b883F34', deployment.swap.address, none];
    await send(chain, owner, { ...registry, functionName: 'register', args });
    await expectRevert(chain, alice, await signedSwap(chain, deployment), '0x2163950f');
    expect(await balanceOf(chain, deployment.venue.asset.address, mallory.address)).toBe(0n);
  });
});

async function buyWith(token: `0x${string}`, nonce: bigint, amount = gross) {
  const quote = makeQuote(chain, deployment.venue);
  const request = makeRequest(deployment, quote, { inputToken: token, nonce, amount });
  return {
    ...deployment.swap,
    functionName: 'swap',
    args: [
      quote,
      await signQuote(chain, deployment.venue, quote),
      token,
      amount,
      await signRequest(chain, deployment.swap, request),
    ],
  };
}
