import { decodeEventLog, getAddress, type TransactionReceipt } from 'viem';
import { beforeEach, describe, expect, it } from 'vitest';
import { falseToken } from '../../abi/test/false-token.ts';
import { accounts, type Chain, deploy, expectRevert, send, startChain } from '../chain.ts';
import { balanceOf, deployDollar, deployTetherLike, type Erc20, mintAndApprove } from '../tokens.ts';
import { deployFund, option, otherOption } from './fund.ts';
import { commitV2, deployFundV2, type FundV2, idOf, remitV2, rowOf } from './fund-v2.ts';

const { alice, bob, mallory, operator, owner } = accounts;
const ALREADY_COMMITTED = '0xd297b6c5';
let chain: Chain;
let fund: FundV2;
let dollar: Erc20;

beforeEach(async () => {
  chain = await startChain();
  fund = await deployFundV2(chain);
  dollar = await deployDollar(chain);
  for (const user of [alice, bob]) await mintAndApprove(chain, dollar, user, fund.address, 100_000n);
});

function eventsOf(receipt: TransactionReceipt) {
  return receipt.logs
    .filter(({ address }) => address === fund.address)
    .map(({ data, topics }) => decodeEventLog({ abi: fund.abi, data, topics }));
}

const rowFor = (name: string, amount = 500n) =>
  rowOf(idOf(name), alice.address, getAddress(dollar.address), amount);
const stateOf = (name: string) =>
  Promise.all(
    (['isCommitted', 'isRemitted'] as const).map((functionName) =>
      chain.client.readContract({ ...fund, functionName, args: [idOf(name)] }),
    ),
  );

describe('an id', () => {
  it('commits once, whatever the rest of the row says', async () => {
    const receipt = await send(chain, operator, commitV2(fund, rowFor('one')));
    expect(eventsOf(receipt)).toEqual([
      {
        eventName: 'Committed',
        args: {
          id: idOf('one'),
          user: alice.address,
          option,
          token: getAddress(dollar.address),
          amount: 500n,
        },
      },
    ]);
    expect(await stateOf('one')).toEqual([true, false]);
    const others = [
      rowFor('one'),
      rowFor('one', 700n),
      { ...rowFor('one'), user: bob.address },
      { ...rowFor('one'), option: otherOption },
    ];
    for (const row of others)
      await expectRevert(chain, operator, commitV2(fund, row), ALREADY_COMMITTED, [idOf('one')]);
    expect(await balanceOf(chain, dollar.address, fund.address)).toBe(500n);
  });

  it('commits once within a batch, and the repeated row fails alone', async () => {
    const rows = [rowFor('a'), rowFor('a'), rowFor('b')];
    const events = eventsOf(await send(chain, operator, commitV2(fund, rows)));
    expect(events.map(({ eventName }) => eventName)).toEqual([
      'Committed',
      'BatchFail',
      'Committed',
      'Batched',
    ]);
    expect(events[1]?.args).toEqual({ kind: 0n, ...rowFor('a') });
    expect(await balanceOf(chain, dollar.address, fund.address)).toBe(1_000n);
  });

  it('is not used up by a batch row that fails, even if the token burns all gas', async () => {
    const tether = await deployTetherLike(chain);
    const late = rowOf(idOf('late'), alice.address, tether.address, 500n);
    const poor = rowOf(idOf('poor'), alice.address, dollar.address, 1n);
    const events = eventsOf(await send(chain, operator, commitV2(fund, [late, poor, rowFor('good')])));
    expect(events.map(({ eventName }) => eventName)).toEqual([
      'BatchFail',
      'BatchFail',
      'Committed',
      'Batched',
    ]);
    expect(await stateOf('late')).toEqual([false, false]);
    await mintAndApprove(chain, tether, alice, fund.address, 500n);
    await send(chain, operator, commitV2(fund, late));
    await send(chain, operator, commitV2(fund, { ...poor, amount: 500n }));
    expect(await stateOf('late')).toEqual([true, false]);
  });

  it('is remitted once, and cannot commit again afterwards', async () => {
    const row = rowFor('one');
    await send(chain, operator, commitV2(fund, row));
    const receipt = await send(chain, operator, remitV2(fund, row));
    expect(eventsOf(receipt)).toEqual([{ eventName: 'Remitted', args: row }]);
    expect(await stateOf('one')).toEqual([true, true]);
    await expectRevert(chain, operator, remitV2(fund, row), '0xb3a4c914', [row.id]);
    await expectRevert(chain, operator, commitV2(fund, row), ALREADY_COMMITTED, [row.id]);
  });

  it('is remitted to its own user, option and token, and only as a whole', async () => {
    const row = rowFor('one');
    await send(chain, operator, commitV2(fund, [row, { ...rowFor('two'), user: bob.address }]));
    const forged = [
      { ...row, user: bob.address },
      { ...row, option: otherOption },
      { ...row, amount: 1_000n },
      { ...row, amount: 200n },
      { ...row, amount: 0n },
      { ...row, id: idOf('two') },
      { ...row, id: idOf('unknown') },
    ];
    for (const each of forged)
      await expectRevert(chain, operator, remitV2(fund, each), '0x4ebe8a4d', [each.id]);
    await send(chain, operator, remitV2(fund, row));
  });

  it('survives a refund that fails', async () => {
    const token = await deploy(chain, falseToken);
    await mintAndApprove(chain, token, alice, fund.address, 500n);
    const row = rowOf(idOf('false'), alice.address, token.address, 500n);
    await send(chain, operator, commitV2(fund, row));
    await send(chain, owner, { ...token, functionName: 'freeze' });
    await expectRevert(chain, operator, remitV2(fund, row), '0x3a3ce127', [row.id]);
    expect(await stateOf('false')).toEqual([true, false]);
  });
});

describe('refund batches', () => {
  it('pay all rows or none', async () => {
    const rows = [rowFor('a'), rowFor('b', 700n)];
    await send(chain, operator, commitV2(fund, rows));
    const [a] = rows;
    if (a === undefined) throw new Error('there is no row');
    await expectRevert(chain, operator, remitV2(fund, [a, a]), '0xb3a4c914', [a.id]);
    expect(await stateOf('a')).toEqual([true, false]);
    await send(chain, operator, remitV2(fund, rows));
    expect(await balanceOf(chain, dollar.address, fund.address)).toBe(0n);
  });
});

describe('the generations', () => {
  it('differ by ERC-165, which only the second supports', async () => {
    const supports = (interfaceId: string) =>
      chain.client.readContract({ ...fund, functionName: 'supportsInterface', args: [interfaceId as never] });
    expect(await supports('0x5e89d71b')).toBe(true);
    expect(await supports('0x01ffc9a7')).toBe(true);
    expect(await supports('0xffffffff')).toBe(false);
    const { address } = await deployFund(chain);
    await expect(
      chain.client.readContract({
        address,
        abi: fund.abi,
        functionName: 'supportsInterface',
        args: ['0x01ffc9a7'],
      }),
    ).rejects.toThrow();
  });

  it('share roles, stops and the smallest commitment', async () => {
    await expectRevert(chain, mallory, commitV2(fund, rowFor('a')), '0x82b42900');
    await expectRevert(chain, mallory, remitV2(fund, rowFor('a')), '0x82b42900');
    const row = { ...fund, functionName: 'commitRow', args: [rowFor('a')] };
    await expectRevert(chain, operator, row, '0x82b42900');
    await expectRevert(chain, operator, commitV2(fund, rowFor('a', 1n)), '0x6d400e38', [1n, 100n]);
    await send(chain, owner, { ...fund, functionName: 'stop', args: [6n] });
    await expectRevert(chain, operator, commitV2(fund, rowFor('a')), '0xd05c7c78');
    await expectRevert(chain, operator, remitV2(fund, rowFor('a')), '0xd05c7c78');
  });
});
