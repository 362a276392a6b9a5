import { stringToHex } from 'viem';
import { beforeEach, expect, it } from 'vitest';
import { bytes32Token } from '../../abi/bytes32-token.ts';
import { falseToken } from '../../abi/test/false-token.ts';
import { feeOnTransferToken } from '../../abi/test/fee-on-transfer-token.ts';
import { type Chain, deploy, expectRevert, people, send, startChain } from '../chain.ts';
import { balanceOf, deployTetherLike, fund as give } from '../tokens.ts';
import { commit, commitMany, deployFund, type Fund, option, remit, tokenTotals } from './fund.ts';

const { alice, operator, owner } = people;
let chain: Chain;
let fund: Fund;

beforeEach(async () => {
  chain = await startChain();
  fund = await deployFund(chain);
});

it('takes and gives back a token that returns nothing', async () => {
  const tether = await deployTetherLike(chain);
  await give(chain, tether, alice, fund.address, 1_000n);
  await send(chain, operator, commit(fund, alice.address, tether.address, 1_000n));
  await send(chain, operator, remit(fund, alice.address, tether.address, 1_000n));
  expect(await balanceOf(chain, tether.address, alice.address)).toBe(1_000n);
  expect(await tokenTotals(chain, fund, tether.address)).toEqual([1n, 1_000n, 1n, 1_000n]);
});

it('takes a token with a bytes32 name', async () => {
  const words = ['Maker', 'MKR'].map((text) => stringToHex(text, { size: 32 }));
  const token = await deploy(chain, bytes32Token, [owner.address, ...words]);
  await give(chain, token, alice, fund.address, 1_000n);
  await send(chain, operator, commit(fund, alice.address, token.address, 1_000n));
  expect(await tokenTotals(chain, fund, token.address)).toEqual([1n, 1_000n, 0n, 0n]);
});

it('credits nothing of a token that keeps a fee, and leaves it with the user', async () => {
  const token = await deploy(chain, feeOnTransferToken);
  await give(chain, token, alice, fund.address, 1_000n);
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

it('takes false for a no', async () => {
  const token = await deploy(chain, falseToken);
  await give(chain, token, alice, fund.address, 1_000n);
  await send(chain, alice, { ...token, functionName: 'freeze' });
  const call = commit(fund, alice.address, token.address, 1_000n);
  await expectRevert(chain, operator, call, '0x50029b7f', [alice.address, option, token.address]);
});
