import { decodeEventLog, padHex, zeroAddress } from 'viem';
import { beforeAll, describe, expect, it } from 'vitest';
import { accounts, type Chain, expectRevert, send, startChain } from '../chain.ts';
import { balanceOf, deployDollar, type Erc20, mintAndApprove } from '../tokens.ts';
import { commit, deployFund, type Fund, minCommit, option, tokenTotals, userTotals } from './fund.ts';

const { alice, operator, mallory, owner } = accounts;
let chain: Chain;
let fund: Fund;
let dollar: Erc20;

beforeAll(async () => {
  chain = await startChain();
  fund = await deployFund(chain);
  dollar = await deployDollar(chain);
});

describe('commit', () => {
  it('pulls the amount, updates the totals and emits Committed', async () => {
    await mintAndApprove(chain, dollar, alice, fund.address, 1_000n);
    const { logs } = await send(chain, operator, commit(fund, alice.address, dollar.address, 600n));
    await send(chain, operator, commit(fund, alice.address, dollar.address, 400n));

    expect(await balanceOf(chain, dollar.address, fund.address)).toBe(1_000n);
    expect(await userTotals(chain, fund, alice.address, dollar.address)).toEqual([2n, 1_000n, 0n, 0n]);
    expect(await tokenTotals(chain, fund, dollar.address)).toEqual([2n, 1_000n, 0n, 0n]);

    const log = logs.find((entry) => entry.address === fund.address);
    expect(log?.topics).toEqual([
      '0xaadbe976366eee8ef2d5a1c92af7def1a11078360295aba675fd6adadfde121d',
      padHex(alice.address, { size: 32 }).toLowerCase(),
      option,
      padHex(dollar.address, { size: 32 }).toLowerCase(),
    ]);
    const decoded = decodeEventLog({ abi: fund.abi, data: log?.data ?? '0x', topics: log?.topics ?? [] });
    expect(decoded.args).toMatchObject({ amount: 600n });
  });

  it('requires the commit role, even of the owner', async () => {
    for (const stranger of [mallory, owner]) {
      await expectRevert(chain, stranger, commit(fund, alice.address, dollar.address, 600n), '0x82b42900');
    }
  });

  it('rejects less than the minimum and reports both amounts', async () => {
    const call = commit(fund, alice.address, dollar.address, minCommit - 1n);
    await expectRevert(chain, operator, call, '0x6d400e38', [minCommit - 1n, minCommit]);
  });

  it('rejects the zero address and the fund as the user', async () => {
    for (const user of [zeroAddress, fund.address]) {
      await expectRevert(chain, operator, commit(fund, user, dollar.address, 600n), '0xfd684c3b');
    }
  });

  it('rejects amounts beyond the allowance or the balance', async () => {
    const failed = [alice.address, option, dollar.address];
    await expectRevert(
      chain,
      operator,
      commit(fund, alice.address, dollar.address, 600n),
      '0x50029b7f',
      failed,
    );
    await send(chain, alice, { ...dollar, functionName: 'approve', args: [fund.address, 10_000n] });
    await expectRevert(
      chain,
      operator,
      commit(fund, alice.address, dollar.address, 600n),
      '0x50029b7f',
      failed,
    );
  });

  it('rejects an address that is not a token', async () => {
    const failed = [alice.address, option, mallory.address];
    await expectRevert(
      chain,
      operator,
      commit(fund, alice.address, mallory.address, 600n),
      '0x50029b7f',
      failed,
    );
  });

  it('does not let others call commitRow', async () => {
    const args = [alice.address, option, dollar.address, 600n];
    await expectRevert(chain, operator, { ...fund, functionName: 'commitRow', args }, '0x82b42900');
  });
});
