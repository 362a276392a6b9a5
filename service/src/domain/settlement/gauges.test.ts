import { Registry } from 'prom-client';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { copyParticipation } from '../../../test/support/copies.ts';
import { saleWorker, UNIT } from '../../../test/support/sale.ts';
import { blockedCount, stopFund, useSale } from '../../../test/support/settlement.ts';
import { registerSettlementGauges } from './gauges.ts';
import { startSettlement } from './settlement.ts';

const sale = useSale();
beforeAll(() => registerSettlementGauges(sale.app.ctx, ['ethereum_sepolia']));
afterEach(() => sale.resumeMining());

async function metric(name: string): Promise<number | undefined> {
  const text = await sale.app.ctx.metrics.registry.metrics();
  const value = new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1];
  return value === undefined ? undefined : Number(value);
}

const open = () => metric('causeway_settlement_open_transactions{chain="ethereum_sepolia"}');
const backlog = (status: string) =>
  metric(`causeway_settlement_backlog{chain="ethereum_sepolia",status="${status}"}`);

describe('metrics', () => {
  test('count open transactions although the round stops at the fee cap, and the backlog', async () => {
    expect(await open()).toBe(0);
    const { worker, round, settle } = saleWorker(sale, { timings: { bumpSeconds: -1, bumpBlocks: 0n } });
    await sale.participate(sale.buyer(0), 2n * UNIT);
    expect(await backlog('pending')).toBe(1);
    sale.pauseMining();
    await round();
    expect([await open(), await backlog('submitted')]).toEqual([1, 1]);
    worker.account.maxFee = 1n;
    await sale.participate(sale.buyer(1), 2n * UNIT);
    await round();
    expect(await open()).toBe(1);
    worker.account.maxFee = 10n ** 12n;
    await sale.mine(1);
    sale.resumeMining();
    await settle();
    await settle();
    expect([await open(), await backlog('submitted')]).toEqual([0, undefined]);
  });

  test('of one scrape share one read of the backlog', async () => {
    let queries = 0;
    const db = sale.app.ctx.db.withPlugin({
      transformQuery: ({ node }) => {
        queries++;
        return node;
      },
      transformResult: async ({ result }) => result,
    });
    const registry = new Registry();
    registerSettlementGauges({ db, metrics: { ...sale.app.ctx.metrics, registry } }, []);
    await sale.participate(sale.buyer(0), 2n * UNIT);
    queries = 0;
    const text = await registry.metrics();
    expect(text).toMatch(/settlement_backlog\{[^}]*status="pending"[^}]*\} 1/);
    expect(text).toMatch(/settlement_oldest_seconds\{[^}]*status="pending"/);
    // There is one query each for open transactions, backlog, pauses, keys, moved amounts, differences and
    // reconciliation passes.
    expect(queries).toBe(7);
    await saleWorker(sale).settle();
  });

  test('of a node that has lost the lease show no alerts', async () => {
    await stopFund(sale, 2n);
    await sale.participate(sale.buyer(2), 2n * UNIT);
    const holder = saleWorker(sale);
    await holder.settle();
    expect(await blockedCount(sale, 'fund_stopped')).toBeGreaterThan(0);
    expect(await saleWorker(sale, { node: 5_000 }).round()).toBe('away');
    expect(await blockedCount(sale, 'fund_stopped')).toBe(0);
    await stopFund(sale, 0n);
    await saleWorker(sale).settle();
  });

  test('report that participations wait on a chain without an operator key', async () => {
    sale.pauseMining();
    await sale.participate(sale.buyer(3), 2n * UNIT);
    const registry = new Registry();
    const { ctx } = sale.app;
    const metrics = { ...ctx.metrics, registry };
    const signer = ctx.signerOf('commit', 'ethereum_sepolia');
    const retiredSigners = signer === null ? [] : [{ signer, roles: ['commit', 'refund'] as const }];
    const settlement = await startSettlement({ ...ctx, signerOf: () => null, retiredSigners, metrics });
    const text = await registry.metrics();
    expect(text).toMatch(/causeway_settlement_waiting\{[^}]*reason="operator_key_missing"[^}]*\} 1/);
    await settlement.stop();
    await sale.mine(1);
    sale.resumeMining();
    await saleWorker(sale).settle();
  });
});

describe('prepared rows', () => {
  test('are checked once per head, and not while the chain stands still', async () => {
    const created = saleWorker(sale);
    const { chain } = created.worker.account;
    let reads = 0;
    const batch: typeof chain.rpc.batch = (calls, accept) => {
      reads += calls.filter(({ method }) => method === 'eth_getTransactionReceipt').length;
      return chain.rpc.batch(calls, accept);
    };
    created.worker.account.chain = { ...chain, rpc: { ...chain.rpc, batch } };
    const request = sale.request(sale.buyer(4), 2n * UNIT, `0x${'ab'.repeat(32)}`);
    const { body } = await sale.person.call('POST', '/v1/participations', request);
    expect(body.status).toBe('prepared');
    await created.round();
    await created.round();
    reads = 0;
    for (let i = 0; i < 5; i++) expect(await created.round()).toBe('watching');
    expect(reads).toBe(0);
    await sale.mine(1);
    await created.round();
    await created.round();
    expect(reads).toBe(1);
  });

  test('are written only when they are checked, however many there are', async () => {
    const { round } = saleWorker(sale);
    const request = sale.request(sale.buyer(3), 2n * UNIT, `0x${'cd'.repeat(32)}`);
    const { body } = await sale.person.call('POST', '/v1/participations', request);
    await copyParticipation(sale.app, String(body.id), 119);
    const { pool } = sale.app.ctx;
    await pool.query(
      "update participations set check_at = now() + interval '5 seconds' where status = 'prepared'",
    );
    const read = async () => {
      const { rows } = await pool.query("select id, xmin from participations where asset_id = 'usd-coin'");
      return new Map(rows.map(({ id, xmin }) => [id, xmin]));
    };
    const writesOf = async (work: () => Promise<unknown>) => {
      const before = await read();
      await work();
      return [...(await read())].filter(([id, xmin]) => before.get(id) !== xmin).length;
    };
    for (let i = 0; i < 2; i++) {
      const writes = [];
      for (let j = 0; j < 4; j++) writes.push(await writesOf(round));
      // There are 121 prepared rows: 120 of this test and one of the previous test.
      expect(writes).toEqual([50, 50, 21, 0]);
      await sale.mine(1);
    }
    await pool.query("delete from participations where status = 'prepared'");
  });
});
