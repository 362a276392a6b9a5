import { decodeEventLog, padHex } from 'viem';
import { beforeEach, describe, expect, it } from 'vitest';
import { falseToken } from '../../abi/test/false-token.ts';
import { accounts, type Chain, deploy, expectRevert, send, startChain } from '../chain.ts';
import { balanceOf, deployDollar, type Erc20, mintAndApprove } from '../tokens.ts';
import {
  commit,
  deployFund,
  type Fund,
  option,
  otherOption,
  remit,
  tokenTotals,
  userTotals,
} from './fund.ts';

const { alice, bob, operator, mallory, owner, treasury } = accounts;
let chain: Chain;
let fund: Fund;
let dollar: Erc20;

beforeEach(async () => {
  chain = await startChain();
  fund = await deployFund(chain);
  dollar = await deployDollar(chain);
  for (const user of [alice, bob]) {
    await mintAndApprove(chain, dollar, user, fund.address, 1_000n);
    await send(chain, operator, commit(fund, user.address, dollar.address, 1_000n));
  }
});

describe('remit', () => {
  it('refunds the amount, updates the totals and emits Remitted', async () => {
    const { logs } = await send(chain, operator, remit(fund, alice.address, dollar.address, 300n));
    const log = logs.find((entry) => entry.address === fund.address);
    expect(log?.topics).toEqual([
      '0x5fbc99197b0b0ca60a36baeda1d928d3f0eac69d875493487112e17e8e08fd45',
      padHex(alice.address, { size: 32 }).toLowerCase(),
      option,
      padHex(dollar.address, { size: 32 }).toLowerCase(),
    ]);
    expect(BigInt(log?.data ?? '0x')).toBe(300n);
    expect(await userTotals(chain, fund, alice.address, dollar.address)).toEqual([1n, 1_000n, 1n, 300n]);
    expect(await tokenTotals(chain, fund, dollar.address)).toEqual([2n, 2_000n, 1n, 300n]);
    expect(await balanceOf(chain, dollar.address, alice.address)).toBe(300n);
  });

  it('rejects more than the outstanding commitment of the user and option', async () => {
    const { address } = dollar;
    await send(chain, operator, remit(fund, alice.address, address, 400n));
    await expectRevert(chain, operator, remit(fund, alice.address, address, 601n), '0xa9e58107', [
      alice.address,
      option,
      address,
    ]);
    await expectRevert(chain, operator, remit(fund, alice.address, address, 1n, otherOption), '0xa9e58107', [
      alice.address,
      otherOption,
      address,
    ]);
    await expectRevert(chain, operator, remit(fund, mallory.address, address, 1n), '0xa9e58107', [
      mallory.address,
      option,
      address,
    ]);
    await send(chain, operator, remit(fund, alice.address, address, 600n));
  });

  it('requires the remit role', async () => {
    for (const stranger of [mallory, owner]) {
      await expectRevert(chain, stranger, remit(fund, alice.address, dollar.address, 1n), '0x82b42900');
    }
  });

  it('has no effect if the token rejects the transfer', async () => {
    const token = await deploy(chain, falseToken);
    await mintAndApprove(chain, token, alice, fund.address, 1_000n);
    await send(chain, operator, commit(fund, alice.address, token.address, 1_000n));
    await send(chain, mallory, { ...token, functionName: 'freeze' });
    const call = remit(fund, alice.address, token.address, 1_000n);
    await expectRevert(chain, operator, call, '0x743b2ff8', [alice.address, option, token.address]);
  });
});

describe('batch remit', () => {
  it('refunds every user and emits Batched(1, n, 0)', async () => {
    const users = [alice.address, bob.address];
    const args = [users, option, dollar.address, [100n, 200n]];
    const { logs } = await send(chain, operator, { ...fund, functionName: 'remit', args });
    const last = logs.at(-1);
    expect(decodeEventLog({ abi: fund.abi, data: last?.data ?? '0x', topics: last?.topics ?? [] })).toEqual({
      eventName: 'Batched',
      args: { kind: 1n, succeeded: 2n, failed: 0n },
    });
    expect(await tokenTotals(chain, fund, dollar.address)).toEqual([2n, 2_000n, 2n, 300n]);
  });

  it('reverts as a whole if one refund fails', async () => {
    const args = [[alice.address, bob.address], option, dollar.address, [100n, 1_001n]];
    const call = { ...fund, functionName: 'remit', args };
    await expectRevert(chain, operator, call, '0xa9e58107', [bob.address, option, dollar.address]);
  });

  it('rejects arrays of unequal length', async () => {
    const args = [[alice.address], option, dollar.address, []];
    await expectRevert(chain, operator, { ...fund, functionName: 'remit', args }, '0xe18ab65f');
  });
});

describe('withdraw', () => {
  it('lets only the owner withdraw proceeds, which can then no longer be remitted', async () => {
    const call = { ...fund, functionName: 'withdraw', args: [dollar.address, treasury.address, 1_500n] };
    await expectRevert(chain, operator, call, '0x82b42900');
    await send(chain, owner, call);
    expect(await balanceOf(chain, dollar.address, treasury.address)).toBe(1_500n);
    expect(
      await chain.client.readContract({ ...fund, functionName: 'commitBalance', args: [dollar.address] }),
    ).toBe(2_000n);
    await expectRevert(chain, operator, remit(fund, alice.address, dollar.address, 501n), '0x743b2ff8', [
      alice.address,
      option,
      dollar.address,
    ]);
  });
});
