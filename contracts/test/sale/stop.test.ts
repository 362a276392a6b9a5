import { beforeEach, expect, it } from 'vitest';
import { accounts, type Chain, expectRevert, send, startChain } from '../chain.ts';
import { deployDollar, type Erc20, mintAndApprove } from '../tokens.ts';
import { commit, deployFund, type Fund, remit } from './fund.ts';

const { alice, operator, mallory, owner } = accounts;
let chain: Chain;
let fund: Fund;
let dollar: Erc20;

beforeEach(async () => {
  chain = await startChain();
  fund = await deployFund(chain);
  dollar = await deployDollar(chain);
  await mintAndApprove(chain, dollar, alice, fund.address, 10_000n);
  await send(chain, operator, commit(fund, alice.address, dollar.address, 1_000n));
});

const stop = (level: bigint) => send(chain, owner, { ...fund, functionName: 'stop', args: [level] });

it.each([
  { level: 0n, commits: true, remits: true },
  { level: 1n, commits: true, remits: true },
  { level: 2n, commits: false, remits: true },
  { level: 4n, commits: true, remits: false },
  { level: 6n, commits: false, remits: false },
  { level: 2n ** 256n - 1n, commits: false, remits: false },
])(
  'stop level $level: commits allowed $commits, remits allowed $remits',
  async ({ level, commits, remits }) => {
    await stop(level);
    expect(await chain.client.readContract({ ...fund, functionName: 'stopped' })).toBe(level);
    const calls = [
      { call: commit(fund, alice.address, dollar.address, 500n), works: commits },
      { call: remit(fund, alice.address, dollar.address, 500n), works: remits },
    ];
    for (const { call, works } of calls) {
      if (works) await send(chain, operator, call);
      else await expectRevert(chain, operator, call, '0xd05c7c78');
    }
  },
);

it('a new stop level replaces the previous one', async () => {
  await stop(6n);
  await stop(4n);
  await send(chain, operator, commit(fund, alice.address, dollar.address, 500n));
});

it('only the owner can stop the fund', async () => {
  for (const stranger of [operator, mallory]) {
    await expectRevert(chain, stranger, { ...fund, functionName: 'stop', args: [2n] }, '0x82b42900');
  }
});
