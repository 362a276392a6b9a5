import { base58 } from '@scure/base';
import { expect, test } from 'vitest';
import { FINALITY_SLOTS, solanaWorker, UNIT, useSolanaSale } from '../../../test/support/solana-sale.ts';
import { requestRemit } from '../participations/refunds.ts';
import { resumeSettlement } from './pause.ts';
import { reconcileReceipts } from './reconcile-pass.ts';
import { buildSolanaReport } from './reconcile-solana.ts';

const sale = useSolanaSale({ nodes: 1 });
const report = () => buildSolanaReport(sale.app.ctx.db, sale.app.ctx.chains.solana('solana_devnet'));

async function complete(): Promise<void> {
  await solanaWorker(sale).settle();
  sale.mine(FINALITY_SLOTS + 1);
  await solanaWorker(sale).settle();
}

test('a report of Solana agrees with commits, refunds and what is in flight, and names what was changed', async () => {
  const { pool } = sale.app.ctx;
  const buyer = await sale.buyer('reconcile');
  const id = await sale.participate(buyer, 100n * UNIT);
  await complete();
  const refunded = await sale.participate(await sale.buyer('refunded'), 30n * UNIT);
  await complete();
  await requestRemit(sale.app.ctx, refunded);
  await complete();
  expect(await sale.statusOf(refunded)).toBe('remitted');
  await sale.participate(await sale.buyer('in flight'), 20n * UNIT);
  await solanaWorker(sale).settle();
  const clean = await report();
  expect(clean).toMatchObject({ agrees: true, differences: [], offers: [{ agrees: true }] });
  expect(clean.funds).toMatchObject([{ database: { settled: String(100n * UNIT) } }]);
  const tampers = [
    ['amount = amount + 1', 'amount = amount - 1', 'differs from the commit that was signed'],
    [
      "status = 'failed', committed = false",
      "status = 'completed', committed = true",
      'its receipt is on the chain',
    ],
    ["status = 'remitted'", "status = 'completed'", 'records a remit that has no receipt'],
    ['committed = null', 'committed = true', 'records no commit'],
  ];
  for (const [change, repair, message] of tampers) {
    await pool.query(`update participations set ${change} where id = $1`, [id]);
    const { differences, agrees } = await report();
    expect([change, agrees, differences.map((each) => each.participation_ids)]).toEqual([
      change,
      false,
      [[id]],
    ]);
    expect(differences[0]?.message).toContain(message);
    await pool.query(`update participations set ${repair} where id = $1`, [id]);
  }
  const attempt = `from operator_attempts where transaction_id = (select commit_id from participations where id = '${id}')`;
  const { rows } = await pool.query(`select hash, raw ${attempt}`);
  const raw = Buffer.from(rows[0].raw);
  raw[10] = (raw[10] ?? 0) ^ 1;
  await pool.query('update operator_attempts set raw = $1 where hash = $2', [raw, rows[0].hash]);
  expect((await report()).differences.map((each) => each.participation_ids)).toEqual([[id]]);
});

test('a report names a missing row, a missing transaction and a foreign transaction', async () => {
  const { pool } = sale.app.ctx;
  await pool.query('alter table participations disable trigger user');
  const id = await sale.participate(await sale.buyer('missing'), 10n * UNIT);
  await complete();
  const known = (await report()).differences.length;
  const added = async () =>
    (await report()).differences.filter(({ message }) => !message.includes('differs from'));
  expect(known).toBe(1);
  expect(await added()).toEqual([]);
  const { rows } = await pool.query('select * from participations where id = $1', [id]);
  const [{ commit_id }] = rows;
  await pool.query(
    "update participations set status = 'pending', committed = null, commit_id = null, commit_row = null where id = $1",
    [id],
  );
  // The row no longer refers to its transaction, so there are two differences: the row, and a transaction without a
  // row.
  expect((await added()).map((each) => each.participation_ids)).toEqual([[id], []]);
  expect((await added())[0]?.message).toContain('its receipt is on the chain');
  await pool.query('delete from participations where id = $1', [id]);
  const missing = await added();
  expect(missing).toMatchObject([{ offers: ['harbour-sale'], participation_ids: [] }]);
  const { rows: transactions } = await pool.query(
    'select mined_hash from operator_transactions where id = $1',
    [commit_id],
  );
  expect(missing[0]?.transaction_hashes).toEqual([base58.encode(transactions[0].mined_hash)]);
  const columns = Object.keys(rows[0]);
  await pool.query(
    `insert into participations (${columns.join()}) values (${columns.map((_, i) => `$${i + 1}`).join()})`,
    Object.values(rows[0]),
  );
  await pool.query('alter table participations enable trigger user');
  expect(await added()).toEqual([]);
  const signature = Buffer.alloc(64, 9);
  await pool.query(
    "insert into foreign_transactions (chain, signature, address) values ('solana_devnet', $1, 'somebody')",
    [signature],
  );
  expect((await added()).map((each) => each.transaction_hashes)).toEqual([[base58.encode(signature)]]);
  await pool.query('delete from foreign_transactions');
});

test('the pass compares what changed and looks back at all rows in turn, and keeps what an operator accepted', async () => {
  const { ctx } = sale.app;
  const { pool } = ctx;
  const pass = () => reconcileReceipts(ctx, ctx.chains.solana('solana_devnet'), { seconds: 0, delayMs: 1 });
  const differences = async () =>
    (await pool.query('select participation_ids, accepted_at from reconcile_differences')).rows;
  await pass();
  await resumeSettlement(ctx, 'harbour-sale');
  const accepted = await differences();
  expect(accepted).toHaveLength(1);
  // Every row is older than the last pass, and the cursor is at the last row, so the next pass compares no rows.
  await pool.query("update participations set updated_at = now() - interval '1 day'");
  const { rows } = await pool.query('select id, status from participations order by id');
  const [known] = accepted[0].participation_ids;
  const first = rows.find(({ id, status }) => status === 'completed' && id !== known)?.id;
  const last = rows.at(-1).id;
  const tamper = (id: string, units: number) =>
    pool.query('update participations set amount = amount + $2 where id = $1', [id, units]);
  await pool.query('update reconcile_passes set cursor = $1', [last]);
  await tamper(first, 5);
  await pass();
  expect(await differences()).toEqual(accepted);
  // The cursor has reached the end, so the next pass starts again at the first row and finds the difference.
  await pass();
  expect((await differences()).filter(({ accepted_at }) => accepted_at === null)).toMatchObject([
    { participation_ids: [first] },
  ]);
  await tamper(first, -5);
  await resumeSettlement(ctx, 'harbour-sale');
});
