import { decodeEventLog, type Hex, type TransactionReceipt, toHex, zeroAddress } from 'viem';
import { beforeEach, describe, expect, it } from 'vitest';
import { heavyToken } from '../../abi/test/heavy-token.ts';
import {
  accounts,
  type Call,
  type Chain,
  deploy,
  encodeCall,
  expectRevert,
  send,
  startChain,
  withSnapshot,
} from '../chain.ts';
import { balanceOf, deployDollar, deployTetherLike, type Erc20, mintAndApprove } from '../tokens.ts';
import { commitMany, deployFund, type Fund, option, otherOption, tokenTotals, userTotals } from './fund.ts';

const { alice, bob, operator, mallory, owner } = accounts;
let chain: Chain;
let fund: Fund;
let dollar: Erc20;

beforeEach(async () => {
  chain = await startChain();
  fund = await deployFund(chain);
  dollar = await deployDollar(chain);
});

function events(receipt: TransactionReceipt) {
  return receipt.logs
    .filter((log) => log.address === fund.address)
    .map((log) => ({ topic: log.topics[0], ...decodeEventLog({ abi: fund.abi, ...log }) }));
}

describe('batch commit', () => {
  it('commits the valid rows and reports the failed ones with the exact topics', async () => {
    await mintAndApprove(chain, dollar, alice, fund.address, 1_000n);
    const rows = [
      { user: alice.address, token: dollar.address, amount: 500n },
      { user: bob.address, token: dollar.address, amount: 700n },
      { user: alice.address, token: dollar.address, amount: 500n, option: otherOption },
      { user: alice.address, token: dollar.address, amount: 1n },
      { user: zeroAddress, token: dollar.address, amount: 500n },
      { user: alice.address, token: mallory.address, amount: 500n },
    ];
    const seen = events(await send(chain, operator, commitMany(fund, rows)));

    expect(seen.map((event) => event.eventName)).toEqual([
      'Committed',
      'BatchFail',
      'Committed',
      'BatchFail',
      'BatchFail',
      'BatchFail',
      'Batched',
    ]);
    expect(seen[1]).toMatchObject({
      topic: '0x03fffab05152416945f1e3abb3cca0c443e73b191bba45472b0234259e54dc12',
      args: { kind: 0n, user: bob.address, option, amount: 700n },
    });
    expect(seen[6]).toMatchObject({
      topic: '0x69ce6e946746fbcb19a95df06905cd42f136479e13f7f5b3d31240538bef3390',
      args: { kind: 0n, succeeded: 2n, failed: 4n },
    });
    expect(await tokenTotals(chain, fund, dollar.address)).toEqual([2n, 1_000n, 0n, 0n]);
    expect(await userTotals(chain, fund, bob.address, dollar.address)).toEqual([0n, 0n, 0n, 0n]);
    expect(await balanceOf(chain, dollar.address, fund.address)).toBe(1_000n);
  });

  it('survives a token that burns all its gas', async () => {
    const tether = await deployTetherLike(chain);
    await mintAndApprove(chain, tether, alice, fund.address, 1_000n);
    const rows = [
      ...Array.from({ length: 4 }, () => ({ user: bob.address, token: tether.address, amount: 500n })),
      { user: alice.address, token: tether.address, amount: 1_000n },
    ];
    const gas = await chain.client.estimateGas({
      account: operator.address,
      to: fund.address,
      data: encodeCall(commitMany(fund, rows)),
    });
    const seen = events(await send(chain, operator, commitMany(fund, rows), gas));
    expect(seen.at(-1)).toMatchObject({ args: { succeeded: 1n, failed: 4n } });
  });

  it('reverts as a whole instead of failing a valid row for lack of gas', async () => {
    const heavy = await deploy(chain, heavyToken);
    await mintAndApprove(chain, heavy, alice, fund.address, 1_000n);
    const call = commitMany(fund, [{ user: alice.address, token: heavy.address, amount: 1_000n }]);
    const outcomes = new Set<string>();
    for (let gas = 60_000n; gas <= 900_000n; gas += 5_000n) {
      outcomes.add(await outcomeWith(call, gas));
    }
    expect(outcomes).toEqual(new Set(['reverted', 'committed']));
  });

  it('rejects arrays of unequal length', async () => {
    const [users, options, tokens, amounts]: [Hex[], Hex[], Hex[], bigint[]] = [
      [alice.address],
      [option],
      [dollar.address],
      [500n],
    ];
    for (const args of [
      [[], options, tokens, amounts],
      [users, [], tokens, amounts],
      [users, options, [], amounts],
      [users, options, tokens, []],
    ]) {
      await expectRevert(chain, operator, { ...fund, functionName: 'commit', args }, '0xe18ab65f');
    }
  });

  it('requires the commit role and can be stopped', async () => {
    const call = commitMany(fund, [{ user: alice.address, token: dollar.address, amount: 500n }]);
    await expectRevert(chain, mallory, call, '0x82b42900');
    await send(chain, owner, { ...fund, functionName: 'stop', args: [2n] });
    await expectRevert(chain, operator, call, '0xd05c7c78');
  });
});

async function outcomeWith(call: Call, gas: bigint): Promise<string> {
  return withSnapshot(chain, async () => {
    const transaction = { from: operator.address, to: fund.address, data: encodeCall(call), gas: toHex(gas) };
    const hash = await chain.evm.request({ method: 'eth_sendTransaction', params: [transaction] });
    const receipt = await chain.client.getTransactionReceipt({ hash: hash as Hex });
    if (receipt.status === 'reverted') return 'reverted';
    return events(receipt).some(({ eventName }) => eventName === 'BatchFail') ? 'row failed' : 'committed';
  });
}
