import { type Hex, keccak256, toHex, zeroAddress } from 'viem';
import { beforeEach, describe, expect, it } from 'vitest';
import { contractSigner } from '../../abi/test/contract-signer.ts';
import { accounts, type Chain, deploy, expectRevert, now, send, setTime, startChain } from '../chain.ts';
import {
  allowCall,
  deploySwap,
  offer,
  type Permission,
  permissionDomain,
  permissionTypes,
  type Swap,
  signPermission,
} from './swap.ts';

const { alice, bob, operator, mallory, owner, supplier } = accounts;
const invalid = '0x868a64de';
let chain: Chain;
let swap: Swap;
let permission: Permission;
let signature: Hex;

beforeEach(async () => {
  chain = await startChain();
  ({ swap } = await deploySwap(chain));
  permission = { wallet: alice.address, offer, nonce: 0n, deadline: (await now(chain)) + 600n };
  signature = await signPermission(chain, swap.address, permission);
});

const isAuthorized = (wallet: Hex) =>
  chain.client.readContract({ ...swap, functionName: 'authorized', args: [wallet] });

describe('a permission', () => {
  it('allows only the wallet it names, no matter who broadcasts it', async () => {
    await send(chain, mallory, allowCall(swap, permission, signature));
    expect(await isAuthorized(alice.address)).toBe(true);
    expect(await isAuthorized(mallory.address)).toBe(false);
    expect(await isAuthorized(bob.address)).toBe(false);
  });

  it('has no effect the second time', async () => {
    await send(chain, alice, allowCall(swap, permission, signature));
    const { logs } = await send(chain, alice, allowCall(swap, permission, signature));
    expect(logs).toEqual([]);
    expect(await isAuthorized(alice.address)).toBe(true);
  });

  const tampered: Record<string, (overrides: Permission) => Permission> = {
    wallet: (signed) => ({ ...signed, wallet: mallory.address }),
    offer: (signed) => ({ ...signed, offer: keccak256(toHex('offer-2')) }),
    deadline: (signed) => ({ ...signed, deadline: signed.deadline + 1n }),
  };
  it.each(Object.keys(tampered))('is invalid with a different %s', async (field) => {
    const changed = tampered[field]?.(permission) ?? permission;
    await expectRevert(chain, alice, allowCall(swap, changed, signature), invalid);
  });

  it('is invalid with a different nonce', async () => {
    const ahead = await signPermission(chain, swap.address, { ...permission, nonce: 1n });
    await expectRevert(chain, alice, allowCall(swap, permission, ahead), invalid);
  });

  it.each(Array.from({ length: 65 }, (_, index) => index))(
    'is invalid if byte %i of the signature is changed',
    async (index) => {
      const at = 2 + index * 2;
      const byte = (Number.parseInt(signature.slice(at, at + 2), 16) ^ 1).toString(16).padStart(2, '0');
      const changed = `${signature.slice(0, at)}${byte}${signature.slice(at + 2)}` as Hex;
      await expectRevert(chain, alice, allowCall(swap, permission, changed), invalid);
    },
  );

  it('is invalid without a signature', async () => {
    await expectRevert(chain, alice, allowCall(swap, permission, '0x'), invalid);
  });

  it('is invalid unless the supplier signed it', async () => {
    for (const signer of [alice, owner, operator]) {
      const forged = await signPermission(chain, swap.address, permission, signer);
      await expectRevert(chain, alice, allowCall(swap, permission, forged), invalid);
    }
  });

  it.each([
    { what: 'chain', domain: { chainId: 84532 } },
    { what: 'contract', domain: { verifyingContract: mallory.address } },
    { what: 'name', domain: { name: 'Another Fund Swap' } },
    { what: 'version', domain: { version: '2' } },
  ])('is invalid if signed for a different $what', async ({ domain }) => {
    const foreign = await supplier.signTypedData({
      domain: { ...permissionDomain(chain.id, swap.address), ...domain },
      types: permissionTypes,
      primaryType: 'AllowWallet',
      message: permission,
    });
    await expectRevert(chain, alice, allowCall(swap, permission, foreign), invalid);
  });

  it('is valid until its deadline, inclusive', async () => {
    await setTime(chain, permission.deadline - 1n);
    await send(chain, alice, allowCall(swap, permission, signature));
    expect(await isAuthorized(alice.address)).toBe(true);
    await setTime(chain, permission.deadline + 1n);
    await expectRevert(chain, alice, allowCall(swap, permission, signature), '0x383684fc', [
      permission.deadline,
    ]);
  });
});

describe('a revocation', () => {
  it('removes a wallet, and its old permission cannot restore it', async () => {
    await send(chain, alice, allowCall(swap, permission, signature));
    await send(chain, owner, { ...swap, functionName: 'revoke', args: [alice.address] });
    expect(await isAuthorized(alice.address)).toBe(false);
    await expectRevert(chain, alice, allowCall(swap, permission, signature), invalid);

    const again = { ...permission, nonce: 1n };
    await send(chain, alice, allowCall(swap, again, await signPermission(chain, swap.address, again)));
    expect(await isAuthorized(alice.address)).toBe(true);
  });

  it('voids a permission that has not been broadcast yet', async () => {
    await send(chain, owner, { ...swap, functionName: 'revoke', args: [alice.address] });
    await expectRevert(chain, alice, allowCall(swap, permission, signature), invalid);
  });

  it('requires the owner or role 2', async () => {
    const revoke = { ...swap, functionName: 'revoke', args: [alice.address] };
    await expectRevert(chain, operator, revoke, '0x82b42900');
    await send(chain, owner, { ...swap, functionName: 'grantRoles', args: [operator.address, 2n] });
    await send(chain, operator, revoke);
  });
});

describe('the supplier', () => {
  it('can be replaced only by the owner, which voids earlier permissions', async () => {
    const replace = { ...swap, functionName: 'setSupplier', args: [bob.address] };
    await expectRevert(chain, supplier, replace, '0x82b42900');
    await send(chain, owner, replace);
    await expectRevert(chain, alice, allowCall(swap, permission, signature), invalid);
    const fresh = await signPermission(chain, swap.address, permission, bob);
    await send(chain, alice, allowCall(swap, permission, fresh));
  });

  it('cannot be set to zero, which would open the list', async () => {
    await expectRevert(
      chain,
      owner,
      { ...swap, functionName: 'setSupplier', args: [zeroAddress] },
      '0xbe6137f6',
    );
  });

  it('can be a contract wallet', async () => {
    const wallet = await deploy(chain, contractSigner, [supplier.address]);
    const { swap: other } = await deploySwap(chain, { supplier: wallet.address });
    await send(
      chain,
      alice,
      allowCall(other, permission, await signPermission(chain, other.address, permission)),
    );
    const forged = await signPermission(chain, other.address, permission, mallory);
    await expectRevert(chain, alice, allowCall(other, permission, forged), invalid);
  });

  it('is not needed if everyone may swap', async () => {
    const { swap: open } = await deploySwap(chain, { supplier: zeroAddress });
    const args = [mallory.address] as const;
    expect(await chain.client.readContract({ ...open, functionName: 'authorized', args })).toBe(true);
    await expectRevert(chain, alice, allowCall(open, permission, signature), '0xbe6137f6');
    await expectRevert(
      chain,
      owner,
      { ...open, functionName: 'setSupplier', args: [bob.address] },
      '0xbe6137f6',
    );
  });
});

describe('the domain', () => {
  it('matches the EIP-5267 description', async () => {
    const [, name, version, chainId, verifyingContract] = await chain.client.readContract({
      ...swap,
      functionName: 'eip712Domain',
    });
    expect({ name, version, chainId: Number(chainId), verifyingContract }).toMatchObject({
      ...permissionDomain(chain.id, swap.address),
      verifyingContract: expect.stringMatching(new RegExp(swap.address, 'i')),
    });
  });
});
