import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { saleFund } from '@causeway/contracts/abi/sale-fund.ts';
import { roles } from '@causeway/sandbox/seed/keys.ts';
import { createWalletClient, custom, type Hex } from 'viem';
import { sepolia } from 'viem/chains';
import { keccak256, toHex } from 'viem/utils';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { commandConfig, saleWorker, UNIT } from '../../../test/support/sale.ts';
import { useSale } from '../../../test/support/settlement.ts';
import { type Named, namedBy, reportTampered } from '../../../test/support/tamper.ts';
import { run as runOperator } from '../../edges/cli/operator-command.ts';
import { requestRemit } from '../participations/refunds.ts';
import { buildReport, type ChainReport } from './reconcile-report.ts';

const sale = useSale();
const folder = mkdtempSync(join(tmpdir(), 'causeway-report-'));
/** Settled participations: two in one transaction, one alone, one refunded. */
let ids: string[];
const hashes: Record<string, Hex> = {};

beforeAll(async () => {
  const participate = async (buyer: number, units: bigint) =>
    (await sale.participate(sale.buyer(buyer), units * UNIT)).id;
  ids = [await participate(0, 2n), await participate(1, 3n)];
  await saleWorker(sale).settle();
  for (const buyer of [2, 3]) {
    ids.push(await participate(buyer, 5n));
    await saleWorker(sale).settle();
  }
  await requestRemit(sale.app.ctx, String(ids[3]));
  await saleWorker(sale).settle();
  await sale.mine(2);
  const { rows } = await sale.app.ctx.pool.query(`
    select p.id, '0x' || encode(c.mined_hash, 'hex') as commit, '0x' || encode(r.mined_hash, 'hex') as remit
    from participations p join operator_transactions c on c.id = p.commit_id
      left join operator_transactions r on r.id = p.remit_id`);
  for (const { id, commit, remit } of rows) Object.assign(hashes, { [id]: commit, [`${id} remit`]: remit });
  expect(hashes[String(ids[0])]).toBe(hashes[String(ids[1])]);
});
afterEach(() => {
  process.exitCode = undefined;
  vi.restoreAllMocks();
});
afterAll(() => rmSync(folder, { recursive: true }));

const chain = () => sale.app.ctx.chains.evm('ethereum_sepolia');
const tamper = (statement: string) =>
  reportTampered(sale.app.ctx.db, statement, (db) => buildReport(db, chain()));

/** Runs `causeway operator reconcile --report`. */
async function report(): Promise<{ code: number | string | undefined; agrees: boolean; named: Named }> {
  vi.spyOn(console, 'error').mockImplementation(() => undefined);
  process.exitCode = undefined;
  const file = join(folder, 'report.json');
  await runOperator(await commandConfig(sale), ['reconcile', '--report', '--write', file]);
  const { agrees, chains } = JSON.parse(readFileSync(file, 'utf8')) as {
    agrees: boolean;
    chains: ChainReport[];
  };
  return { code: process.exitCode ?? undefined, agrees, named: chains.flatMap(namedBy) };
}

const CLEAN = { code: undefined, agrees: true, named: [] };

test('the report agrees with settled and refunded participations', async () => {
  expect(await report()).toEqual(CLEAN);
});

/**
 * Changes to one participation: a name, the index of the participation in `ids`, and the columns to set. For each
 * change, the report must list the participation and its transaction.
 */
const ROW_CHANGES: [string, number, string][] = [
  ['another amount', 0, 'amount = amount + 1'],
  ['another wallet', 1, `wallet_address = '0x${'0a'.repeat(20)}'`],
  ['another token', 0, `token_address = '0x${'0b'.repeat(20)}'`],
  ['a commit that is denied', 1, "status = 'failed', committed = false"],
  ['a commit that is forgotten', 2, "status = 'pending', committed = null"],
  ['a commit without its transaction', 2, 'commit_id = gen_random_uuid()'],
  [
    'a commit in another transaction',
    2,
    'commit_id = (select commit_id from participations where amount = 2000000), commit_row = 2',
  ],
];

describe('exactly the changed participation is named:', () => {
  test.each(ROW_CHANGES)('%s', async (_name, index, change) => {
    const id = String(ids[index]);
    expect(await tamper(`update participations set ${change} where id = '${id}'`)).toEqual([
      { rows: [id], transactions: [hashes[id]] },
    ]);
  });

  test('a refund that is forgotten or denied', async () => {
    const id = String(ids[3]);
    const named = [{ rows: [id], transactions: [hashes[`${id} remit`]] }];
    for (const change of [
      "status = 'completed'",
      "status = 'remit_failed'",
      "status = 'completed', remit_id = null, remit_row = null",
    ])
      expect(await tamper(`update participations set ${change} where id = '${id}'`), change).toEqual(named);
  });

  test('a refund that was never sent, and a participation that was made up', async () => {
    const id = String(ids[2]);
    expect(await tamper(`update participations set status = 'remitted' where id = '${id}'`)).toEqual([
      { rows: [id], transactions: [] },
    ]);
    const copy = crypto.randomUUID();
    const values = `jsonb_build_object('id', '${copy}', 'amount', '9', 'approval_hash', '\\x${'cd'.repeat(32)}')`;
    expect(
      await tamper(`insert into participations select (jsonb_populate_record(p, ${values})).*
        from participations p where id = '${id}'`),
    ).toEqual([{ rows: [copy], transactions: [] }]);
  });

  test('a participation that was deleted, by its transaction', async () => {
    const id = String(ids[2]);
    expect(await tamper(`delete from participations where id = '${id}'`)).toEqual([
      { rows: [], transactions: [hashes[id]] },
    ]);
  });
});

describe('exactly the changed transaction is named:', () => {
  const of = (id: string) => `(select commit_id from participations where id = '${id}')`;

  test.each([
    ['another hash', `mined_hash = '\\x${'01'.repeat(32)}'`],
    ['another block', 'block_number = block_number - 1'],
  ])('%s', async (_name, change) => {
    const id = String(ids[2]);
    expect(await tamper(`update operator_transactions set ${change} where id = ${of(id)}`)).toEqual([
      { rows: [], transactions: [hashes[id]] },
    ]);
  });

  test('one that was abandoned in the database only, with its participation', async () => {
    const id = String(ids[2]);
    expect(
      await tamper(
        `update operator_transactions set state = 'displaced', mined_hash = null, block_number = null, block_hash = null where id = ${of(id)}`,
      ),
    ).toEqual([{ rows: [id], transactions: [hashes[id]] }]);
  });

  test('one that was removed, with its participations', async () => {
    const id = String(ids[2]);
    const remove = `delete from operator_attempts where transaction_id = ${of(id)};
      delete from operator_transactions where id = ${of(id)}`;
    const named = [{ rows: [id], transactions: [hashes[id]] }];
    expect(await tamper(remove)).toEqual(named);
    // Resets the participation to its state before the commit, as restoring an older backup would. The report then
    // lists the transaction as lost.
    const reset = `update participations set status = 'pending', committed = null, commit_id = null, commit_row = null
      where id = '${id}'`;
    expect(await tamper(`${remove}; ${reset}`)).toEqual(named);
  });
});

describe('a foreign transaction on the chain is named:', () => {
  const commit = async (account: typeof roles.operator, amount: bigint): Promise<Hex> => {
    const client = createWalletClient({ account, chain: sepolia, transport: custom(sale.chain.chain) });
    await sale.buyer(4).approve(amount);
    const args = [sale.buyer(4).address, keccak256(toHex(sale.option)), sale.usdc, amount];
    const call = { address: sale.fund, abi: saleFund.abi, functionName: 'commit', gas: 300_000n };
    const hash = await client.writeContract({ ...call, args } as never);
    await sale.mine(70);
    return hash;
  };

  test('one of another key, and one of the stolen operator key', async () => {
    await sale.chain.owner.writeContract({
      ...{ address: sale.fund, abi: saleFund.abi, functionName: 'grantRoles', gas: 200_000n },
      args: [roles.deployer.address, 6n],
    } as never);
    const foreign = await commit(roles.deployer, 14n * UNIT);
    const named = { rows: [], transactions: [foreign] };
    expect(await report()).toEqual({ code: 1, agrees: false, named: [named] });
    const stolen = await commit(roles.operator, 15n * UNIT);
    expect((await report()).named).toEqual([named, { rows: [], transactions: [stolen] }]);
  });
});
