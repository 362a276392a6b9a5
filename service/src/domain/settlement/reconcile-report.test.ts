import { saleFund } from '@causeway/contracts/abi/sale-fund.ts';
import pg from 'pg';
import { encodeAbiParameters, encodeEventTopics, type Hex, numberToHex, pad, toHex } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { databaseUrlOf } from '../../../test/support/database-url.ts';
import { type LyingNode, startLyingNode } from '../../../test/support/lying-node.ts';
import { saleWorker, UNIT } from '../../../test/support/sale.ts';
import { useSale } from '../../../test/support/settlement.ts';
import { hashOption } from '../../platform/chain/evm/sale-fund.ts';
import { openChains } from '../../platform/chain/open-chains.ts';
import { buildReport } from './reconcile-report.ts';

/** Set `REPORT_ROWS=100000` for the full test. */
const ROWS = Number(process.env.REPORT_ROWS ?? 400);
const ROWS_PER_TRANSACTION = 36;
/** `BLOCKS` is how many blocks have events. `MAX_LOGS` is how many events a node returns at once. */
const BLOCKS = 20;
const MAX_LOGS = Math.max(100, ROWS / 10);
const FUND = `0x${'fd'.repeat(20)}` as const;

const sale = useSale();
let node: LyingNode;
let chains: ReturnType<typeof openChains>;
const chain = () => chains.evm('ethereum_sepolia');

/**
 * Settles one participation for real, and stores `ROWS` copies of it in the database, as commits to another fund. Then
 * starts a node that reports the events of these copies, although the events are not on the chain.
 */
beforeAll(async () => {
  const { id } = await sale.participate(sale.buyer(0), 2n * UNIT);
  await saleWorker(sale).settle();
  await sale.mine(BLOCKS);
  // A separate connection, which keeps the temporary table and has no time limit.
  const seed = new pg.Client(await databaseUrlOf(sale.app));
  await seed.connect();
  await seed.query(`create temporary table copies as select n, (n / ${ROWS_PER_TRANSACTION})::int as batch,
    md5('row' || n)::uuid as id, md5('transaction' || n / ${ROWS_PER_TRANSACTION})::uuid as transaction_id
    from generate_series(0, ${ROWS - 1}) n`);
  const copy = async (table: string, source: string, changes: Record<string, string>, from = '') => {
    const { rows } = await seed.query(
      'select column_name as name from information_schema.columns where table_name = $1 and table_schema = current_schema()',
      [table],
    );
    const names = rows.map(({ name }) => name as string);
    const values = names.map((name) => changes[name] ?? `s.${name}`);
    await seed.query(
      `insert into ${table} (${names.join()}) select ${values.join()} from ${from} join ${table} s on ${source}`,
    );
  };
  await seed.query('alter table participations disable trigger user');
  await seed.query('alter table operator_transactions disable trigger user');
  const commit = `s.id = (select commit_id from participations where id = '${id}')`;
  await copy(
    'operator_transactions',
    commit,
    {
      ...{ id: 'c.transaction_id', nonce: '1000000 + c.batch', target: `'${FUND}'`, state: `'final'` },
      mined_hash: `sha256(('transaction' || c.batch)::bytea)`,
      block_number: `s.block_number + c.batch % ${BLOCKS}`,
    },
    '(select distinct batch, transaction_id from copies) c',
  );
  await copy(
    'participations',
    `s.id = '${id}'`,
    {
      ...{ id: 'c.id', commit_id: 'c.transaction_id', commit_row: `c.n % ${ROWS_PER_TRANSACTION}` },
      ...{ amount: '1000000 + c.n', fund_address: `'${FUND}'`, holds_approval: 'false' },
      ...{ approval_hash: `sha256(('approval' || c.n)::bytea)`, updated_at: 's.updated_at' },
    },
    'copies c',
  );
  await seed.query('alter table participations enable trigger user');
  await seed.query('alter table operator_transactions enable trigger user');
  await seed.query('analyze participations, operator_transactions');
  await seed.end();
  const logs = await buildLogs(id);
  const total = BigInt(ROWS) * 1_000_000n + (BigInt(ROWS) * BigInt(ROWS - 1)) / 2n;
  const totals = encodeAbiParameters([{ type: 'uint256[4]' }], [[BigInt(ROWS), total, 0n, 0n]]);
  node = await startLyingNode(sale.node.url);
  node.lie((method, result, [first]) => {
    if (method === 'eth_getLogs') {
      const { fromBlock, toBlock } = first as { fromBlock: Hex; toBlock: Hex };
      const found = logs.filter(
        ({ blockNumber: at }) => BigInt(at) >= BigInt(fromBlock) && BigInt(at) <= BigInt(toBlock),
      );
      // The error that Infura returns if a query has too many results.
      if (found.length > MAX_LOGS)
        return { fault: { code: -32005, message: `query returned more than ${MAX_LOGS} results` } };
      return [...(result as object[]), ...found];
    }
    return method === 'eth_call' && (first as { to: string }).to === FUND ? totals : result;
  });
  chains = openChains({ urls: { ethereum_sepolia: [node.url] } });
}, 600_000);
afterAll(async () => {
  await chains.close();
  await node.close();
});

/** Encodes the commit event of each copied participation, in the block that the database records for its commit. */
async function buildLogs(id: string): Promise<{ blockNumber: Hex }[]> {
  const { pool } = sale.app.ctx;
  const { rows } = await pool.query(
    `select p.amount, p.wallet_address as user, p.token_address as token, p.offer_option_id as option,
      '0x' || encode(t.mined_hash, 'hex') as hash, t.block_number::int as block, '0x' || encode(t.block_hash, 'hex') as "blockHash"
    from participations p join operator_transactions t on t.id = p.commit_id where p.id <> $1 order by p.amount`,
    [id],
  );
  const [{ option = '', user, token } = {} as Record<string, string>] = rows;
  const args = { user: user as Hex, option: hashOption(option), token: token as Hex } as never;
  const topics = encodeEventTopics({ abi: saleFund.abi, eventName: 'Committed', args });
  const words = saleFund.abi
    .find((item) => item.type === 'event' && item.name === 'Committed')
    ?.inputs.filter((input) => !('indexed' in input && input.indexed));
  const values: Record<string, Hex> = {
    user: pad(user as Hex),
    option: hashOption(option),
    token: pad(token as Hex),
  };
  return rows.map(({ amount, hash, block, blockHash }, i) => ({
    ...{ address: FUND, topics, transactionHash: hash, blockHash },
    blockNumber: numberToHex(block),
    logIndex: numberToHex(i + 1_000),
    data: `0x${(words ?? []).map(({ name = '' }) => (values[name] ?? toHex(BigInt(amount), { size: 32 })).slice(2)).join('')}`,
  }));
}

test(`a report over ${ROWS} rows agrees, and names exactly the row that was changed`, async () => {
  const { db, pool } = sale.app.ctx;
  const started = process.cpuUsage();
  const begun = performance.now();
  const report = await buildReport(db, chain());
  const { user, system } = process.cpuUsage(started);
  if (process.env.REPORT_ROWS !== undefined)
    process.stderr.write(
      `${ROWS} rows: ${Math.round(performance.now() - begun)} ms, ${Math.round((user + system) / 1000)} ms of CPU\n`,
    );
  expect(report.differences).toEqual([]);
  expect(report).toMatchObject({ agrees: true });
  expect(report.funds.find(({ fund }) => fund === FUND)?.database.commits).toBe(String(ROWS));
  const id = "md5('row' || 7)::uuid";
  await pool.query(`update participations set amount = amount + ${10 * ROWS} where id = ${id}`);
  const tampered = await buildReport(db, chain());
  await pool.query(`update participations set amount = amount - ${10 * ROWS} where id = ${id}`);
  const { rows } = await pool.query(`select ${id} as id`);
  expect(tampered.differences.map(({ participation_ids }) => participation_ids)).toEqual([[rows[0].id]]);
}, 600_000);
