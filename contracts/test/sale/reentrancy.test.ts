import { beforeEach, expect, it } from 'vitest';
import { reentrantToken } from '../../abi/test/reentrant-token.ts';
import {
  accounts,
  type Call,
  type Chain,
  type Deployed,
  deploy,
  encodeCall,
  send,
  startChain,
} from '../chain.ts';
import { mintAndApprove } from '../tokens.ts';
import { commit, commitMany, deployFund, type Fund, remit, tokenTotals } from './fund.ts';

const { alice, operator, owner } = accounts;
let chain: Chain;
let fund: Fund;
let token: Deployed<typeof reentrantToken.abi>;

beforeEach(async () => {
  chain = await startChain();
  fund = await deployFund(chain);
  token = await deploy(chain, reentrantToken);
  await mintAndApprove(chain, token, alice, fund.address, 10_000n);
  await send(chain, operator, commit(fund, alice.address, token.address, 1_000n));
  // The token contract has the roles to commit and to remit, so only the reentrancy guard can stop its reentrant call.
  await send(chain, owner, { ...fund, functionName: 'grantRoles', args: [token.address, 6n] });
});

const outer = {
  commit: () => commit(fund, alice.address, token.address, 500n),
  'batch commit': () => commitMany(fund, [{ user: alice.address, token: token.address, amount: 500n }]),
  remit: () => remit(fund, alice.address, token.address, 500n),
};
const names = ['commit', 'batch commit', 'remit'] as const;

it.each(names.flatMap((during) => names.map((inner) => ({ during, inner }))))(
  'the fund rejects a $inner during a $during',
  async ({ during, inner }) => {
    const before = await tokenTotals(chain, fund, token.address);
    const call: Call = outer[inner]();
    await send(chain, owner, { ...token, functionName: 'arm', args: [fund.address, encodeCall(call)] });
    await send(chain, operator, outer[during]());

    expect(await chain.client.readContract({ ...token, functionName: 'tried' })).toBe(true);
    expect(await chain.client.readContract({ ...token, functionName: 'answer' })).toBe('0xab143c06');
    const after = await tokenTotals(chain, fund, token.address);
    expect(after[0] + after[2]).toBe(before[0] + before[2] + 1n);
  },
);
