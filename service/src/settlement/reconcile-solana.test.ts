import { expect, test } from 'vitest';
import { FINALITY_SLOTS, solanaWorker, UNIT, useSolanaSale } from '../../test/support/solana-sale.ts';
import { requestRemit } from '../participations/remit.ts';
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
