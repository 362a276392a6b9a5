import fc from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import { accounts, type Chain, send, startChain, withSnapshot } from '../chain.ts';
import { balanceOf, deployDollar, type Erc20, mintAndApprove } from '../tokens.ts';
import { minCommit } from './fund.ts';
import { commitV2, deployFundV2, type FundV2, idOf, type Row, remitV2, rowOf } from './fund-v2.ts';

const users = [accounts.alice, accounts.bob];
const IDS = 4;
let chain: Chain;
let fund: FundV2;
let dollar: Erc20;

beforeAll(async () => {
  chain = await startChain();
  fund = await deployFundV2(chain);
  dollar = await deployDollar(chain);
  for (const user of users) await mintAndApprove(chain, dollar, user, fund.address, 10_000n);
});

const part = fc.record({
  id: fc.integer({ min: 1, max: IDS }),
  user: fc.constantFrom(...users),
  amount: fc.bigInt({ min: 50n, max: 4_000n }),
});
const operation = fc.oneof(
  fc.record({ kind: fc.constant('commit' as const), parts: fc.array(part, { minLength: 1, maxLength: 1 }) }),
  fc.record({ kind: fc.constant('batch' as const), parts: fc.array(part, { minLength: 1, maxLength: 4 }) }),
  fc.record({ kind: fc.constant('remit' as const), parts: fc.array(part, { minLength: 1, maxLength: 1 }) }),
  fc.record({
    kind: fc.constant('withdraw' as const),
    parts: fc.array(part, { minLength: 1, maxLength: 1 }),
  }),
);

type Model = { committed: Map<number, Row>; remitted: Set<number>; withdrawn: bigint };

const sum = (amounts: Iterable<bigint>) => [...amounts].reduce((total, amount) => total + amount, 0n);
const held = ({ committed, remitted, withdrawn }: Model) =>
  sum([...committed].flatMap(([id, { amount }]) => (remitted.has(id) ? [] : [amount]))) - withdrawn;

it('an id commits and is remitted at most once, and the balance is commitments less refunds and withdrawals', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(operation, { minLength: 1, maxLength: 12 }), (operations) =>
      withSnapshot(chain, async () => {
        const model: Model = { committed: new Map(), remitted: new Set(), withdrawn: 0n };
        const allowances = new Map<string, bigint>(users.map(({ address }) => [address, 10_000n]));
        for (const { kind, parts } of operations) {
          const [first] = parts;
          if (first === undefined) continue;
          if (kind === 'withdraw') await withdraw(model, first.amount);
          else if (kind === 'remit') await remit(model, first.id);
          else await commit(model, allowances, kind, parts);
        }
        expect(await balanceOf(chain, dollar.address, fund.address)).toBe(held(model));
        for (let id = 1; id <= IDS; id++) {
          const read = (functionName: 'isCommitted' | 'isRemitted') =>
            chain.client.readContract({ ...fund, functionName, args: [idOf(id)] });
          expect(await read('isCommitted')).toBe(model.committed.has(id));
          expect(await read('isRemitted')).toBe(model.remitted.has(id));
        }
      }),
    ),
    { numRuns: 25 },
  );
});

async function commit(
  model: Model,
  allowances: Map<string, bigint>,
  kind: 'commit' | 'batch',
  parts: { id: number; user: { address: `0x${string}` }; amount: bigint }[],
): Promise<void> {
  const rows = parts.map(({ id, user, amount }) => rowOf(idOf(id), user.address, dollar.address, amount));
  const [single] = rows;
  const sent = send(chain, accounts.operator, commitV2(fund, kind === 'batch' || !single ? rows : single));
  let works = true;
  for (const [i, { id, user, amount }] of parts.entries()) {
    const allowance = allowances.get(user.address) ?? 0n;
    works = !model.committed.has(id) && amount >= minCommit && amount <= allowance;
    const row = rows[i];
    if (!works || row === undefined) continue;
    model.committed.set(id, row);
    allowances.set(user.address, allowance - amount);
  }
  if (works || kind === 'batch') await sent;
  else await expect(sent).rejects.toThrow();
}

async function remit(model: Model, id: number): Promise<void> {
  const row = model.committed.get(id) ?? rowOf(idOf(id), accounts.alice.address, dollar.address, 4_000n);
  const works = model.committed.has(id) && !model.remitted.has(id) && row.amount <= held(model);
  const sent = send(chain, accounts.operator, remitV2(fund, row));
  if (!works) return expect(sent).rejects.toThrow();
  await sent;
  model.remitted.add(id);
}

async function withdraw(model: Model, amount: bigint): Promise<void> {
  const call = {
    ...fund,
    functionName: 'withdraw',
    args: [dollar.address, accounts.treasury.address, amount],
  };
  const sent = send(chain, accounts.owner, call);
  if (amount > held(model)) return expect(sent).rejects.toThrow();
  await sent;
  model.withdrawn += amount;
}
