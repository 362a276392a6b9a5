import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { expectAudited } from '../../../test/support/audited.ts';
import { type LyingNode, startLyingNode } from '../../../test/support/lying-node.ts';
import { gaugesOf, saleWorker, UNIT } from '../../../test/support/sale.ts';
import { blockedCount, useSale } from '../../../test/support/settlement.ts';
import { requestRemit } from '../participations/refunds.ts';
import { createAlerts } from './alerts.ts';
import { resumeSettlement } from './pause.ts';
import { listPauses } from './pause-store.ts';
import { reconcileFunds } from './reconcile-pass.ts';

let second: LyingNode;
const sale = useSale({
  moreUrls: async (chain) => {
    second = await startLyingNode((await chain.addNode()).url);
    return [`${second.url}#provider=second`];
  },
});
beforeEach(() => {
  second.lie(null);
  sale.resumeMining();
});
afterAll(() => second.close());

function pass(seconds = 0): Promise<void> {
  const { ctx } = sale.app;
  const alerts = createAlerts(gaugesOf(sale.app), ctx.log, {
    chain: 'ethereum_sepolia',
    address: 'reconcile',
  });
  return reconcileFunds(ctx, ctx.chains.evm('ethereum_sepolia'), { seconds, delayMs: 1, alerts });
}
const pauses = () => listPauses(sale.app.ctx.db);
const differences = () => sale.app.ctx.db.selectFrom('reconcile_differences').selectAll().execute();

/** Sets the last compared block. The next pass compares only events from shortly before that block onwards. */
const setLastBlock = (block: number) =>
  sale.app.ctx.db
    .updateTable('reconcile_passes')
    .set({ to_block: BigInt(block) })
    .execute();

test('settled, refunded and unrecorded transactions are no difference', async () => {
  const { settle, round } = saleWorker(sale);
  const { id } = await sale.participate(sale.buyer(0), 3n * UNIT);
  await settle();
  await pass();
  await requestRemit(sale.app.ctx, id);
  await settle();
  const open = await sale.participate(sale.buyer(1), 4n * UNIT);
  sale.pauseMining();
  await round();
  await sale.mine(1);
  expect(await sale.statusOf(open.id)).toBe('submitted');
  await pass();
  expect(await pauses()).toEqual([]);
  await settle();
  await pass();
  expect(await pauses()).toEqual([]);
  expect(await differences()).toEqual([]);
});

test('a provider that lags behind, or is wrong for a moment, pauses nothing', async () => {
  second.lie((method, result) => (method === 'eth_getBlockByNumber' ? null : result));
  await expect(pass()).rejects.toMatchObject({ code: 'upstream_error' });
  let calls = 0;
  second.lie((method, result) => (method === 'eth_getLogs' && calls++ === 0 ? [] : result));
  await pass();
  expect(calls).toBeGreaterThan(1);
  expect(await pauses()).toEqual([]);
});

test('a node that stops does not wait for the second comparison, and pauses nothing', async () => {
  await sale.participate(sale.buyer(3), UNIT);
  await saleWorker(sale).settle();
  second.lie((method, result) => (method === 'eth_getLogs' ? [] : result));
  const { ctx } = sale.app;
  const stopping = new AbortController();
  const options = { seconds: 0, delayMs: 3_600_000, signal: stopping.signal };
  let hasEnded = false;
  const running = reconcileFunds(ctx, ctx.chains.evm('ethereum_sepolia'), options).then(() => {
    hasEnded = true;
  });
  await sleep(1_000);
  expect(hasEnded).toBe(false);
  stopping.abort();
  await running;
  expect(await pauses()).toEqual([]);
  expect(await differences()).toEqual([]);
});

test('only one node compares a chain in an interval', async () => {
  second.lie((method, result) => (method === 'eth_getLogs' ? [] : result));
  await pass(3_600);
  expect(await pauses()).toEqual([]);
});

test('a row that was changed pauses its offer and is named, until an operator accepts it', async () => {
  const { db, pool } = sale.app.ctx;
  const { rows } = await pool.query("select id from participations where status = 'completed' limit 1");
  const add = (units: number) =>
    sql`update participations set amount = amount + ${units} where id = ${rows[0].id}`.execute(db);
  // The row was committed before the compared blocks, so only the fund's counters reveal the change.
  await sale.mine(600);
  await setLastBlock(Number(await sale.chain.direct.getBlockNumber()) - 10);
  await add(1);
  await pass();
  expect(await pauses()).toMatchObject([{ subject: 'harbour-sale', reason: 'unreconciled' }]);
  expect(await differences()).toMatchObject([
    { participation_ids: [rows[0].id], offer_ids: [sale.offer.id], accepted_at: null },
  ]);
  expect((await differences())[0]?.transaction_hashes).toHaveLength(1);
  expect(await blockedCount(sale, 'unreconciled')).toBe(1);
  await resumeSettlement(sale.app.ctx, 'harbour-sale');
  await pass();
  expect(await pauses()).toEqual([]);
  await expectAudited(sale.app.ctx, 'reconcile.difference_found', 'reconcile.difference_accepted');
  await expectAudited(sale.app.ctx, 'settlement_pause.insert', 'settlement_pause.deleted');
  await add(-1);
  await pass();
  expect(await differences()).toEqual([]);
  // If the same change is made again later, it is a new difference.
  await add(1);
  await pass();
  expect(await pauses()).toHaveLength(1);
  await add(-1);
  await resumeSettlement(sale.app.ctx, 'harbour-sale');
});
