import { keccak256, toHex } from 'viem';
import { beforeEach, expect, it } from 'vitest';
import { saleFund } from '../../abi/sale-fund.ts';
import { accounts, type Chain, deploy, expectRevert, send, startChain } from '../chain.ts';
import { deployDollar, type Erc20, mintAndApprove } from '../tokens.ts';
import { commit, type Fund, remit } from './fund.ts';

const { alice, bob, operator, mallory, owner } = accounts;
let chain: Chain;
let fund: Fund;
let dollar: Erc20;

beforeEach(async () => {
  chain = await startChain();
  fund = await deploy(chain, saleFund, [owner.address, keccak256(toHex('another')), 5n]);
  dollar = await deployDollar(chain);
  await mintAndApprove(chain, dollar, alice, fund.address, 1_000n);
});

it('role 2 can only commit and role 4 can only remit', async () => {
  await send(chain, owner, { ...fund, functionName: 'grantRoles', args: [operator.address, 2n] });
  await send(chain, owner, { ...fund, functionName: 'grantRoles', args: [bob.address, 4n] });
  await expectRevert(chain, bob, commit(fund, alice.address, dollar.address, 10n), '0x82b42900');
  await send(chain, operator, commit(fund, alice.address, dollar.address, 10n));
  await expectRevert(chain, operator, remit(fund, alice.address, dollar.address, 10n), '0x82b42900');
  await send(chain, bob, remit(fund, alice.address, dollar.address, 10n));
});

it('only the owner grants and revokes roles, with immediate effect', async () => {
  const grant = { ...fund, functionName: 'grantRoles', args: [mallory.address, 6n] };
  await expectRevert(chain, mallory, grant, '0x82b42900');
  await send(chain, owner, grant);
  await send(chain, owner, { ...fund, functionName: 'revokeRoles', args: [mallory.address, 6n] });
  await expectRevert(chain, mallory, commit(fund, alice.address, dollar.address, 10n), '0x82b42900');
});

it('the fund exposes its deployment parameters', async () => {
  const read = (functionName: 'id' | 'minCommit' | 'KIND' | 'VERSION' | 'owner') =>
    chain.client.readContract({ ...fund, functionName });
  expect(await read('id')).toBe(keccak256(toHex('another')));
  expect(await read('minCommit')).toBe(5n);
  expect(await read('KIND')).toBe(0n);
  expect(await read('VERSION')).toBe(1n);
  expect(await read('owner')).toBe(owner.address);
});
