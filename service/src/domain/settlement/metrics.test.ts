import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type LyingNode, startLyingNode } from '../../../test/support/lying-node.ts';
import { gaugesOf, saleWorker, UNIT } from '../../../test/support/sale.ts';
import { blockedCount, sendForeignTransaction, useSale } from '../../../test/support/settlement.ts';
import { serveMetrics } from '../../edges/operations/metrics-server.ts';
import { requestRemit } from '../participations/refunds.ts';
import { createAlerts } from './alerts.ts';
import { registerSettlementGauges } from './gauges.ts';
import { registerKeyGauges } from './key-gauges.ts';
import { resumeSettlement } from './pause.ts';
import { reconcileFunds } from './reconcile-pass.ts';

let second: LyingNode;
const sale = useSale({
  moreUrls: async (chain) => {
    second = await startLyingNode((await chain.addNode()).url);
    return [`${second.url}#provider=second`];
  },
});
let server: Awaited<ReturnType<typeof serveMetrics>>;
const CHAIN = 'ethereum_sepolia';

beforeAll(async () => {
  const { ctx } = sale.app;
  const limits = {
    ...{ targets: new Set<string>(), dailyFee: 10n ** 18n, dailyAmounts: new Map([[sale.usdc, 500n]]) },
  };
  const refund = { ...limits, dailyFee: 5n * 10n ** 17n, dailyAmounts: new Map([[sale.usdc, 40n]]) };
  const policy = new Map([[11_155_111, { ...limits, roles: new Map([['refund' as const, refund]]) }]]);
  const operatorKey = { kind: 'local' as const, privateKey: Buffer.alloc(32), policy };
  registerSettlementGauges(ctx, [CHAIN]);
  registerKeyGauges({ ...ctx, config: { ...ctx.config, operatorKey } });
  server = await serveMetrics(ctx.metrics, { host: '127.0.0.1', port: 0 });
});
afterEach(() => {
  second.lie(null);
  sale.resumeMining();
});
afterAll(async () => {
  await server.close();
  await second.close();
});

/** Scrapes the server and returns the samples of a metric as [labels, value]. */
async function scrape(name: string): Promise<[Record<string, string>, number][]> {
  const text = await (await fetch(server.url)).text();
  return [...text.matchAll(new RegExp(`^${name}\\{([^}]*)\\} (\\S+)$`, 'gm'))].map(
    ([, labels = '', value]) => [
      Object.fromEntries([...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, key, text]) => [key, text])),
      value === '+Inf' ? Number.POSITIVE_INFINITY : Number(value),
    ],
  );
}
const value = async (name: string) => (await scrape(name))[0]?.[1];

async function settleOne(buyer: number, units = 2n): Promise<string> {
  const { id } = await sale.participate(sale.buyer(buyer), units * UNIT);
  await saleWorker(sale).settle();
  return id;
}

test('backlog and oldest age follow the rows per status and chain', async () => {
  await sale.participate(sale.buyer(0), 2n * UNIT);
  await sale.app.ctx.pool.query("update participations set updated_at = now() - interval '90 seconds'");
  expect(await scrape('causeway_settlement_backlog')).toEqual([[{ chain: CHAIN, status: 'pending' }, 1]]);
  expect(await value('causeway_settlement_oldest_seconds')).toBeGreaterThanOrEqual(90);
  await saleWorker(sale).settle();
  expect(await scrape('causeway_settlement_backlog')).toEqual([]);
});

test('the last good round is the last completed one, and a blocked round does not count', async () => {
  const name = 'causeway_settlement_last_round_timestamp_seconds';
  const update = (change: string) => sale.app.ctx.pool.query(`update operator_keys set ${change}`);
  const old = Date.parse('2001-01-01T00:00:00Z') / 1000;
  await update("good_round_at = '2001-01-01T00:00:00Z'");
  // The chain has more transactions from the key than the database knows, so every round is blocked.
  await update('next_nonce = next_nonce - 1');
  await saleWorker(sale).round();
  expect(await blockedCount(sale, 'foreign_nonce')).toBeGreaterThan(0);
  expect(await value(name)).toBe(old);
  await update('next_nonce = next_nonce + 1, seen_nonce = null');
  await saleWorker(sale).round();
  expect(await value(name)).toBeGreaterThan(old);
});

test('the lease holder is the node that settles, and nobody once it is gone', async () => {
  const holder = async () =>
    (await scrape('causeway_settlement_lease_holder')).map(([labels]) => labels.node);
  await saleWorker(sale).round();
  expect(await holder()).toEqual([String(sale.app.ctx.node)]);
  await sale.app.ctx.pool.query('update operator_keys set node = 77');
  // Node 77 holds the lease, but its process does not exist.
  expect(await holder()).toEqual([]);
  await saleWorker(sale).round();
  expect(await holder()).toEqual([String(sale.app.ctx.node)]);
});

test('gas spent today, the balance and the days it lasts change with each transaction', async () => {
  const read = async () => ({
    spent: (await value('causeway_operator_gas_spent')) ?? -1,
    balance: (await value('causeway_operator_balance')) ?? -1,
    days: (await value('causeway_operator_balance_days')) ?? -1,
  });
  const first = await read();
  await settleOne(1);
  const next = await read();
  expect(next.spent).toBeGreaterThan(first.spent);
  expect(next.balance).toBeLessThan(first.balance);
  expect(next.days).toBeCloseTo(next.balance / next.spent, 0);
  expect(next.days).toBeLessThan(first.days);
  await sale.app.ctx.pool.query("update operator_transactions set inserted_at = now() - interval '2 days'");
  expect((await read()).days).toBe(Number.POSITIVE_INFINITY);
  // The lowest of OPERATOR_DAILY_LIMIT_MILLIETHER (20 ether) and the roles' limits in the policy file (1 and 0.5).
  expect(await scrape('causeway_operator_gas_limit')).toEqual([[{ chain: CHAIN }, 0.5]]);
});

test('the value spent today counts per role, beside the limit of the role', async () => {
  await sale.app.ctx.pool.query("update operator_transactions set inserted_at = now() - interval '2 days'");
  expect(await scrape('causeway_operator_value_spent')).toEqual([]);
  const id = await settleOne(2, 3n);
  const moved = async () =>
    (await scrape('causeway_operator_value_spent')).map(([{ role, token }, amount]) => [role, token, amount]);
  const units = Number(3n * UNIT);
  expect(await moved()).toEqual([['commit', sale.usdc, units]]);
  await requestRemit(sale.app.ctx, id);
  await saleWorker(sale).settle();
  expect(await moved()).toEqual([
    ['commit', sale.usdc, units],
    ['refund', sale.usdc, units],
  ]);
  // The limit of each role, as the signer applies it.
  expect(await scrape('causeway_operator_value_limit')).toEqual([
    [{ chain: CHAIN, role: 'commit', token: sale.usdc }, 500],
    [{ chain: CHAIN, role: 'refund', token: sale.usdc }, 40],
  ]);
});

test('the head age is that of each endpoint, and infinite if it does not answer', async () => {
  const ages = async () =>
    (await scrape('causeway_rpc_head_age_seconds')).map(([{ provider, endpoint }, age]) => ({
      ...{ provider, endpoint, age },
    }));
  await sale.mine(1);
  const fresh = await ages();
  expect(fresh).toMatchObject([
    { provider: 'first', endpoint: '1' },
    { provider: 'second', endpoint: '2' },
  ]);
  sale.app.clock.advance(300);
  const older = await ages();
  expect(older[0]?.age).toBeGreaterThanOrEqual((fresh[0]?.age ?? 0) + 300);
  second.lie((method, result) => (method === 'eth_getBlockByNumber' ? null : result));
  expect((await ages())[1]?.age).toBe(Number.POSITIVE_INFINITY);
  await sale.mine(1);
  expect((await ages())[0]?.age).toBeLessThan(older[0]?.age ?? 0);
});

test('the nonce gap is what waits to be mined, and below 0 once something else uses the key', async () => {
  const gap = () => value('causeway_operator_nonce_gap');
  expect(await gap()).toBe(0);
  await sale.participate(sale.buyer(3), 2n * UNIT);
  sale.pauseMining();
  await saleWorker(sale).round();
  expect(await gap()).toBe(1);
  await sale.mine(1);
  sale.resumeMining();
  await saleWorker(sale).settle();
  await sendForeignTransaction(sale);
  expect(await gap()).toBe(-1);
  await sale.app.ctx.pool.query('update operator_keys set next_nonce = next_nonce + 1');
});

test('differences are counted per offer and alerted by every node, until an operator accepts them', async () => {
  const { ctx } = sale.app;
  const differences = () => scrape('causeway_reconcile_differences');
  const pass = (
    seconds: number,
    alerts = createAlerts(gaugesOf(sale.app), ctx.log, { chain: CHAIN, address: 'a' }),
  ) => reconcileFunds(ctx, ctx.chains.evm(CHAIN), { seconds, delayMs: 1, alerts });
  await pass(0);
  const finished = await value('causeway_reconcile_last_pass_timestamp_seconds');
  expect(await differences()).toEqual([[{ offer: 'harbour-sale' }, 0]]);
  await ctx.pool.query("update participations set amount = amount + 1 where status = 'remitted'");
  await pass(0);
  expect((await differences())[0]?.[1]).toBeGreaterThan(0);
  expect(await value('causeway_reconcile_last_pass_timestamp_seconds')).toBeGreaterThan(finished ?? 0);
  // Another node, which did not run the pass, also shows the alert, and drops it once the difference is accepted.
  const other = createAlerts(gaugesOf(sale.app), ctx.log, { chain: CHAIN, address: 'b' });
  await pass(3_600, other);
  expect(await blockedCount(sale, 'unreconciled')).toBeGreaterThan(0);
  await ctx.pool.query("update participations set amount = amount - 1 where status = 'remitted'");
  await resumeSettlement(ctx, 'harbour-sale');
  await pass(3_600, other);
  await pass(3_600);
  expect(await blockedCount(sale, 'unreconciled')).toBe(0);
  expect(await differences()).toEqual([[{ offer: 'harbour-sale' }, 0]]);
});
