import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { solanaRoles } from '@causeway/sandbox/seed/solana-keys.ts';
import { base58 } from '@scure/base';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { testConfig } from '../../../test/support/app.ts';
import { databaseUrlOf } from '../../../test/support/database-url.ts';
import {
  backUpRow,
  FINALITY_SLOTS,
  keyOfSeed,
  solanaWorker,
  theft,
  UNIT,
  useSolanaSale,
} from '../../../test/support/solana-sale.ts';
import { type Named, namedBy, reportTampered } from '../../../test/support/tamper.ts';
import { run as runOperator } from '../../edges/cli/operator-command.ts';
import { memo } from '../../platform/chain/solana/instructions.ts';
import { requestRemit } from '../participations/refunds.ts';
import type { ChainReport } from './reconcile-report.ts';
import { buildSolanaReport } from './reconcile-solana.ts';

const CHAIN = 'solana_devnet';
const sale = useSolanaSale({ nodes: 1 });
const folder = mkdtempSync(join(tmpdir(), 'causeway-solana-report-'));
let committed: string;
let refunded: string;
/**
 * A participation whose transaction was lost in a restore and then adopted from the chain. The database therefore lacks
 * the transaction's signed bytes.
 */
let adopted: string;

async function complete(): Promise<void> {
  await solanaWorker(sale).settle();
  sale.mine(FINALITY_SLOTS + 1);
  await solanaWorker(sale).settle();
}

beforeAll(async () => {
  committed = await sale.participate(await sale.buyer('committed'), 10n * UNIT);
  refunded = await sale.participate(await sale.buyer('refunded'), 20n * UNIT);
  adopted = await sale.participate(await sale.buyer('adopted'), 30n * UNIT);
  const restore = await backUpRow(sale, adopted);
  await complete();
  await restore();
  await solanaWorker(sale).settle();
  await requestRemit(sale.app.ctx, refunded);
  await complete();
  const statuses = await Promise.all([committed, refunded, adopted].map(sale.statusOf));
  expect(statuses).toEqual(['completed', 'remitted', 'completed']);
});
afterEach(() => {
  process.exitCode = undefined;
  vi.restoreAllMocks();
});
afterAll(() => rmSync(folder, { recursive: true }));

const tamper = (statement: string) =>
  reportTampered(sale.app.ctx.db, statement, (db) =>
    buildSolanaReport(db, sale.app.ctx.chains.solana(CHAIN)),
  );

/** Runs `causeway operator reconcile --report`. */
async function report(): Promise<{ code: number | string | undefined; agrees: boolean; named: Named }> {
  vi.spyOn(console, 'error').mockImplementation(() => undefined);
  process.exitCode = undefined;
  const file = join(folder, 'report.json');
  const rpcUrls = { [CHAIN]: [sale.solana.nodes[0]?.url ?? ''] };
  const config = { ...testConfig(), databaseUrl: await databaseUrlOf(sale.app), rpcUrls };
  await runOperator(config, ['reconcile', CHAIN, '--report', '--write', file]);
  const { agrees, chains } = JSON.parse(readFileSync(file, 'utf8')) as {
    agrees: boolean;
    chains: ChainReport[];
  };
  return { code: process.exitCode ?? undefined, agrees, named: chains.flatMap(namedBy) };
}

const rowsOf = (named: Named) => named.map(({ rows }) => rows);

test('the report agrees with settled, refunded and adopted participations', async () => {
  expect(await report()).toEqual({ code: undefined, agrees: true, named: [] });
});

const OTHER = keyOfSeed(solanaRoles.standby.seed).address;

describe('exactly the changed participation is named:', () => {
  test.each([
    ['another amount', 'amount = amount + 1'],
    ['another source', `source_address = '${OTHER}'`],
    ['another vault', `vault_address = '${OTHER}'`],
    ['a commit that is denied', "status = 'failed', committed = false"],
    ['a refund that was never sent', "status = 'remitted'"],
    ['a commit without its transaction', 'commit_id = gen_random_uuid()'],
  ])('%s', async (_name, change) => {
    for (const id of [committed, adopted]) {
      const [first, ...more] = await tamper(`update participations set ${change} where id = '${id}'`);
      expect([id, first?.rows]).toEqual([id, [id]]);
      // If `commit_id` was changed, the transaction belongs to no participation any more, so the report lists the
      // transaction too.
      expect(rowsOf(more)).toEqual(change.startsWith('commit_id') ? [[]] : []);
    }
  });

  test('a refund to another wallet, or one that is forgotten', async () => {
    for (const change of [`wallet_address = '${OTHER}'`, "status = 'completed'", "status = 'remit_failed'"])
      expect(
        rowsOf(await tamper(`update participations set ${change} where id = '${refunded}'`)),
        change,
      ).toEqual([[refunded]]);
  });

  test('a participation that was deleted, by its transaction', async () => {
    const { rows } = await sale.app.ctx.pool.query(
      'select t.mined_hash from participations p join operator_transactions t on t.id = p.commit_id where p.id = $1',
      [committed],
    );
    expect(await tamper(`delete from participations where id = '${committed}'`)).toEqual([
      { rows: [], transactions: [base58.encode(rows[0].mined_hash)] },
    ]);
  });
});

describe('exactly the participation of the changed transaction is named:', () => {
  const of = `(select commit_id from participations where amount = ${10n * UNIT})`;

  test.each([
    ['another signature', `mined_hash = '\\x${'01'.repeat(64)}'`],
    ['another signer', `signer = '${OTHER}'`],
  ])('%s', async (_name, change) => {
    expect(rowsOf(await tamper(`update operator_transactions set ${change} where id = ${of}`))).toEqual([
      [committed],
    ]);
  });

  test('other signed bytes', async () => {
    const change = `raw = set_byte(raw, 10, get_byte(raw, 10) # 1)`;
    expect(
      rowsOf(await tamper(`update operator_attempts set ${change} where transaction_id = ${of}`)),
    ).toEqual([[committed]]);
  });

  test('one that was removed', async () => {
    const remove = `delete from operator_attempts where transaction_id = ${of};
      delete from operator_transactions where id = ${of}`;
    expect(rowsOf(await tamper(remove))).toEqual([[committed]]);
  });
});

test('a foreign transaction of a key of the fund is named, with the participation in its memo', async () => {
  const buyer = await sale.buyer('robbed');
  sale.approve(buyer, 5n * UNIT);
  const key = keyOfSeed(solanaRoles.standby.seed);
  const signature = sale.land(buyer, [theft(sale, buyer.address, key.address), memo(committed)], [key]);
  sale.mine(FINALITY_SLOTS + 1);
  await solanaWorker(sale).settle();
  expect(await report()).toEqual({
    ...{ code: 1, agrees: false },
    named: [{ rows: [committed], transactions: [signature] }],
  });
});
