import { stringToHex } from 'viem';
import { beforeEach, expect, it } from 'vitest';
import { bytes32Token } from '../../abi/bytes32-token.ts';
import { falseToken } from '../../abi/test/false-token.ts';
import { feeOnTransferToken } from '../../abi/test/fee-on-transfer-token.ts';
import { accounts, type Chain, deploy, expectRevert, send, startChain } from '../chain.ts';
import { balanceOf, deployTetherLike, mintAndApprove } from '../tokens.ts';
import { commit, commitMany, deployFund, type Fund, option, remit, tokenTotals } from './fund.ts';

const { alice, operator, owner } = accounts;
let chain: Chain;
let fund: Fund;

beforeEach(async () => {
  chain = await startChain();
  fund = await deployFund(chain);
});

it('commits and remits a token without return values', async () => {
  const tether = await deployTetherLike(chain);
  await mintAndApprove(chain, tether, alice, fund.address, 1_000n);
  await send(chain, operator, commit(fund, alice.address, tether.address, 1_000n));
  await send(chain, operator, remit(fund, alice.address, tether.address, 1_000n));
  expect(await balanceOf(chain, tether.address, alice.address)).toBe(1_000n);
  expect(await tokenTotals(chain, fund, tether.address)).toEqual([1n, 1_000n, 1n, 1_000n]);
});

it('commits a token with a bytes32 name', async () => {
  const words = ['Maker', 'MKR'].map((text) => stringToHex(text, { size: 32 }));
  const token = await deploy(chain, bytes32Token, [owner.address, ...words]);
  await mintAndApprove(chain, token, alice, fund.address, 1_000n);
  await send(chain, operator, commit(fund, alice.address, token.address, 1_000n));
  expect(await tokenTotals(chain, fund, token.address)).toEqual([1n, 1_000n, 0n, 0n]);
});

it('rejects a fee-on-transfer token and leaves the balance with the user', async () => {
  const token = await deploy(chain, feeOnTransferToken);
  await mintAndApprove(chain, token, alice, fund.address, 1_000n);
  const call = commit(fund, alice.address, token.address, 1_000n);
  await expectRevert(chain, operator, call, '0x50029b7f', [alice.address, option, token.address]);
  await send(
    chain,
    operator,
    commitMany(fund, [{ user: alice.address, token: token.address, amount: 1_000n }]),
  );
  expect(await balanceOf(chain, token.address, alice.address)).toBe(1_000n);
  expect(await tokenTotals(chain, fund, token.address)).toEqual([0n, 0n, 0n, 0n]);
});

it('rejects a token that returns false', async () => {
  const token = await deploy(chain, falseToken);
  await mintAndApprove(chain, token, alice, fund.address, 1_000n);
  await send(chain, alice, { ...token, functionName: 'freeze' });
  const call = commit(fund, alice.address, token.address, 1_000n);
  await expectRevert(chain, operator, call, '0x50029b7f', [alice.address, option, token.address]);
});
