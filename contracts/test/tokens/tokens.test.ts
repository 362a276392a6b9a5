import { type Hex, parseSignature, stringToHex } from 'viem';
import { beforeEach, describe, expect, it } from 'vitest';
import { bytes32Token } from '../../abi/bytes32-token.ts';
import { accounts, type Chain, deploy, expectRevert, revertData, send, startChain } from '../chain.ts';
import { balanceOf, deployAsset, deployDollar, deployTetherLike } from '../tokens.ts';

const { alice, bob, mallory, owner } = accounts;
let chain: Chain;

beforeEach(async () => {
  chain = await startChain();
});

describe('the dollar', () => {
  const types = {
    Permit: [
      { name: 'owner', type: 'address' },
      { name: 'spender', type: 'address' },
      { name: 'value', type: 'uint256' },
      { name: 'nonce', type: 'uint256' },
      { name: 'deadline', type: 'uint256' },
    ],
  } as const;

  async function permit(token: Hex, value: bigint, chainId = chain.id) {
    const deadline = 4_000_000_000n;
    const signature = await alice.signTypedData({
      domain: { name: 'Test Dollar', version: '1', chainId, verifyingContract: token },
      types,
      primaryType: 'Permit',
      message: { owner: alice.address, spender: bob.address, value, nonce: 0n, deadline },
    });
    const { r, s, yParity } = parseSignature(signature);
    return [alice.address, bob.address, value, deadline, 27 + yParity, r, s];
  }

  it('has 6 decimals and accepts each EIP-2612 permit once', async () => {
    const dollar = await deployDollar(chain);
    expect(await chain.client.readContract({ ...dollar, functionName: 'decimals' })).toBe(6);
    const call = { ...dollar, functionName: 'permit', args: await permit(dollar.address, 500n) };
    await send(chain, bob, call);
    const args = [alice.address, bob.address] as const;
    expect(await chain.client.readContract({ ...dollar, functionName: 'allowance', args })).toBe(500n);
    await expectRevert(chain, bob, call, '0xddafbaef');
    const foreign = { ...dollar, functionName: 'permit', args: await permit(dollar.address, 500n, 1) };
    await expectRevert(chain, bob, foreign, '0xddafbaef');
  });

  it('grants no allowance by default', async () => {
    const dollar = await deployDollar(chain);
    const permit2 = '0x000000000022D473030F116dDEE9F6B43aC78BA3';
    const args = [alice.address, permit2] as const;
    expect(await chain.client.readContract({ ...dollar, functionName: 'allowance', args })).toBe(0n);
  });

  it('can be minted only by the owner and the minters', async () => {
    const asset = await deployAsset(chain);
    expect(await chain.client.readContract({ ...asset, functionName: 'decimals' })).toBe(18);
    const mint = { ...asset, functionName: 'mint', args: [mallory.address, 1n] };
    await expectRevert(chain, mallory, mint, '0x82b42900');
    await expectRevert(chain, mallory, { ...asset, functionName: 'burn', args: [1n] }, '0x82b42900');
    await send(chain, owner, { ...asset, functionName: 'grantRoles', args: [mallory.address, 1n] });
    await send(chain, mallory, mint);
    await send(chain, mallory, { ...asset, functionName: 'burn', args: [1n] });
  });
});

describe('the Tether-like token', () => {
  it('requires resetting an allowance to zero before changing it', async () => {
    const token = await deployTetherLike(chain);
    const approve = (amount: bigint) => ({ ...token, functionName: 'approve', args: [bob.address, amount] });
    await send(chain, alice, approve(5n));
    expect(await revertData(chain, alice, approve(6n))).toBe('0x');
    await send(chain, alice, approve(0n));
    await send(chain, alice, approve(6n));
  });

  it('has no return values', async () => {
    const token = await deployTetherLike(chain);
    await send(chain, owner, { ...token, functionName: 'mint', args: [alice.address, 10n] });
    const { data } = await chain.client.call({
      account: alice.address,
      to: token.address,
      data: `0xa9059cbb${bob.address.slice(2).padStart(64, '0')}${'1'.padStart(64, '0')}`,
    });
    expect(data).toBeUndefined();
  });
});

describe('the bytes32 token', () => {
  it('has a bytes32 name and symbol', async () => {
    const [name, symbol] = ['Maker', 'MKR'].map((text) => stringToHex(text, { size: 32 }));
    const token = await deploy(chain, bytes32Token, [owner.address, name, symbol]);
    expect(await chain.client.readContract({ ...token, functionName: 'name' })).toBe(name);
    expect(await chain.client.readContract({ ...token, functionName: 'symbol' })).toBe(symbol);
    await send(chain, owner, { ...token, functionName: 'mint', args: [alice.address, 10n] });
    await send(chain, alice, { ...token, functionName: 'transfer', args: [bob.address, 4n] });
    expect(await balanceOf(chain, token.address, bob.address)).toBe(4n);
  });
});
