import fc from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import { accounts, type Chain, send, startChain, withSnapshot } from '../chain.ts';
import { balanceOf, deployDollar, type Erc20, mintAndApprove } from '../tokens.ts';
import { commit, commitMany, deployFund, type Fund, minCommit, option, otherOption, remit } from './fund.ts';

const users = [accounts.alice, accounts.bob];
let chain: Chain;
let fund: Fund;
let dollar: Erc20;

beforeAll(async () => {
  chain = await startChain();
  fund = await deployFund(chain);
  dollar = await deployDollar(chain);
  for (const user of users) await mintAndApprove(chain, dollar, user, fund.address, 10_000n);
});

const operation = fc.record({
  kind: fc.constantFrom('commit' as const, 'batch' as const, 'remit' as const),
  user: fc.constantFrom(...users),
  option: fc.constantFrom(option, otherOption),
  amount: fc.bigInt({ min: 0n, max: 4_000n }),
});

it('the balance equals the totals after any sequence of commits and remits', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(operation, { minLength: 1, maxLength: 12 }), (operations) =>
      withSnapshot(chain, async () => {
        const committed = new Map<string, bigint>();
        const wallets = new Map(users.map((user) => [user.address, 10_000n]));
        for (const { kind, user, option: of, amount } of operations) {
          const key = `${user.address}${of}`;
          const held = committed.get(key) ?? 0n;
          const wallet = wallets.get(user.address) ?? 0n;
          const works =
            kind === 'remit' ? amount > 0n && amount <= held : amount >= minCommit && amount <= wallet;
          const signed = kind === 'remit' ? -amount : amount;
          const row = { user: user.address, option: of, token: dollar.address, amount };
          const call = {
            commit: commit(fund, user.address, dollar.address, amount, of),
            batch: commitMany(fund, [row]),
            remit: remit(fund, user.address, dollar.address, amount, of),
          }[kind];
          const sent = send(chain, accounts.operator, call);
          if (works || kind === 'batch') await sent;
          else await expect(sent).rejects.toThrow();
          if (!works) continue;
          committed.set(key, held + signed);
          // A remit does not restore the allowance, so remitted funds cannot be committed again.
          if (kind !== 'remit') wallets.set(user.address, wallet - amount);
        }
        await expectHeld(committed);
      }),
    ),
    { numRuns: 25 },
  );
});

async function expectHeld(committed: Map<string, bigint>): Promise<void> {
  let sum = 0n;
  for (const user of users) {
    for (const of of [option, otherOption]) {
      const expected = committed.get(`${user.address}${of}`) ?? 0n;
      const args = [user.address, of, dollar.address] as const;
      expect(await chain.client.readContract({ ...fund, functionName: 'commitBalance', args })).toBe(
        expected,
      );
      sum += expected;
    }
  }
  const args = [dollar.address] as const;
  expect(await chain.client.readContract({ ...fund, functionName: 'commitBalance', args })).toBe(sum);
  expect(await chain.client.readContract({ ...fund, functionName: 'fundingTokenBalance', args })).toBe(sum);
  expect(await balanceOf(chain, dollar.address, fund.address)).toBe(sum);
}
