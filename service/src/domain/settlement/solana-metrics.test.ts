import { solanaRoles } from '@causeway/sandbox/seed/solana-keys.ts';
import { beforeAll, expect, test } from 'vitest';
import { gaugesOf } from '../../../test/support/sale.ts';
import { MINT } from '../../../test/support/solana-instructions.ts';
import { FINALITY_SLOTS, solanaWorker, UNIT, useSolanaSale } from '../../../test/support/solana-sale.ts';
import { requestRemit } from '../participations/refunds.ts';
import { createAlerts } from './alerts.ts';
import { registerSettlementGauges } from './gauges.ts';
import { registerKeyGauges } from './key-gauges.ts';
import { resumeSettlement } from './pause.ts';
import { reconcileReceipts } from './reconcile-pass.ts';

const CHAIN = 'solana_devnet';
const { address } = solanaRoles.operator;
const sale = useSolanaSale({ nodes: 2 });

beforeAll(() => {
  const { ctx } = sale.app;
  const limits = { targets: new Set<string>(), dailyFee: 10n ** 9n, dailyAmounts: new Map([[MINT, 500n]]) };
  const refund = { ...limits, dailyAmounts: new Map([[MINT, 40n]]) };
  const policy = new Map([[CHAIN, { ...limits, roles: new Map([['refund' as const, refund]]) }]]);
  const solanaKey = { kind: 'local' as const, privateKey: Buffer.alloc(32), policy };
  registerSettlementGauges(ctx, [CHAIN]);
  registerKeyGauges({ ...ctx, config: { ...ctx.config, solanaKey } });
});

/** Returns the samples of a metric on the cluster as [labels, value]. */
async function scrape(name: string): Promise<[Record<string, string>, number][]> {
  const text = await sale.app.ctx.metrics.registry.metrics();
  return [...text.matchAll(new RegExp(`^${name}\\{([^}]*)\\} (\\S+)$`, 'gm'))].map(
    ([, labels = '', value]) => [
      Object.fromEntries([...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, key, text]) => [key, text])),
      value === '+Inf' ? Number.POSITIVE_INFINITY : Number(value),
    ],
  );
}
const value = async (name: string) => (await scrape(name))[0]?.[1];

async function complete(): Promise<void> {
  await solanaWorker(sale).settle();
  sale.mine(FINALITY_SLOTS + 1);
  await solanaWorker(sale).settle();
}

test('backlog, oldest age and open transactions follow the rows', async () => {
  const open = () => value('causeway_settlement_open_transactions');
  await sale.participate(await sale.buyer('backlog'), 3n * UNIT);
  await sale.app.ctx.pool.query("update participations set updated_at = now() - interval '90 seconds'");
  expect(await scrape('causeway_settlement_backlog')).toEqual([[{ chain: CHAIN, status: 'pending' }, 1]]);
  expect(await value('causeway_settlement_oldest_seconds')).toBeGreaterThanOrEqual(90);
  expect(await open()).toBe(0);
  await solanaWorker(sale).settle();
  expect(await scrape('causeway_settlement_backlog')).toEqual([[{ chain: CHAIN, status: 'submitted' }, 1]]);
  expect(await open()).toBe(1);
  await complete();
  expect(await scrape('causeway_settlement_backlog')).toEqual([]);
  expect(await open()).toBe(0);
});

test('the last good round and the lease holder are those of the key', async () => {
  const [round, lease] = [
    'causeway_settlement_last_round_timestamp_seconds',
    'causeway_settlement_lease_holder',
  ];
  await sale.app.ctx.pool.query("update operator_keys set good_round_at = '2001-01-01T00:00:00Z'");
  const old = Date.parse('2001-01-01T00:00:00Z') / 1000;
  expect(await scrape(round)).toEqual([[{ chain: CHAIN, address }, old]]);
  // A round that cannot read the chain does not count as a good round.
  for (const node of sale.solana.nodes) node.fault.set('down');
  await expect(solanaWorker(sale).round()).rejects.toThrow();
  expect(await value(round)).toBe(old);
  for (const node of sale.solana.nodes) node.fault.set('none');
  const settles = () =>
    solanaWorker(sale)
      .round()
      .then(
        () => true,
        () => false,
      );
  await expect.poll(settles).toBe(true);
  expect(await value(round)).toBeGreaterThan(old);
  expect(await scrape(lease)).toEqual([[{ chain: CHAIN, address, node: String(sale.app.ctx.node) }, 1]]);
  await sale.app.ctx.pool.query('update operator_keys set node = 77');
  expect(await scrape(lease)).toEqual([]);
});

test('balance, days, fees with rent, and value change with each settlement; there is no nonce gap', async () => {
  const read = async () => ({
    spent: (await value('causeway_operator_gas_spent')) ?? -1,
    balance: (await value('causeway_operator_balance')) ?? -1,
    days: (await value('causeway_operator_balance_days')) ?? -1,
  });
  const first = await read();
  const id = await sale.participate(await sale.buyer('spender'), 3n * UNIT);
  await complete();
  const next = await read();
  // A receipt locks up its rent of about 0.002 SOL.
  expect(next.spent - first.spent).toBeGreaterThan(0.002);
  expect(first.balance - next.balance).toBeGreaterThan(0.002);
  expect(next.days).toBeLessThan(first.days);
  expect(await scrape('causeway_operator_nonce_gap')).toEqual([]);
  await sale.app.ctx.pool.query("update operator_transactions set inserted_at = now() - interval '2 days'");
  expect((await read()).days).toBe(Number.POSITIVE_INFINITY);
  await requestRemit(sale.app.ctx, id);
  await complete();
  expect(await sale.statusOf(id)).toBe('remitted');
  expect(await scrape('causeway_operator_value_spent')).toEqual([
    [{ chain: CHAIN, address, role: 'refund', token: MINT }, Number(3n * UNIT)],
  ]);
  expect(await scrape('causeway_operator_value_limit')).toEqual([
    [{ chain: CHAIN, role: 'commit', token: MINT }, 500],
    [{ chain: CHAIN, role: 'refund', token: MINT }, 40],
  ]);
  expect(await scrape('causeway_operator_gas_limit')).toEqual([[{ chain: CHAIN }, 1]]);
});

test('the head age is that of each endpoint, and infinite if it does not answer', async () => {
  const ages = async () =>
    (await scrape('causeway_rpc_head_age_seconds')).map(([{ provider }, age]) => [provider, age]);
  expect((await ages()).map(([provider]) => provider)).toEqual(['node0', 'node1']);
  for (const [, age] of await ages()) expect(age).toBeLessThan(Number.POSITIVE_INFINITY);
  sale.solana.nodes[1]?.fault.set('down');
  expect((await ages())[1]).toEqual(['node1', Number.POSITIVE_INFINITY]);
});

test('a node that did not run the pass logs all differences', async () => {
  const { ctx } = sale.app;
  const messages = ['the first difference', 'the second difference'];
  await ctx.pool.query(
    `insert into reconcile_differences (chain, key, message, offer_ids, participation_ids, transaction_hashes)
    select $1, m, m, '{}', '{}', '{}' from unnest($2::text[]) as m`,
    [CHAIN, messages],
  );
  const alerts = createAlerts(gaugesOf(sale.app), ctx.log, { chain: CHAIN, address: 'reconcile' });
  const skip = () => reconcileReceipts(ctx, ctx.chains.solana(CHAIN), { seconds: 3600, alerts });
  await ctx.pool.query('insert into reconcile_passes (chain, started_at) values ($1, now())', [CHAIN]);
  await skip();
  await skip();
  for (const message of messages)
    expect(sale.app.logged().split(`settlement blocked: ${message}`)).toHaveLength(2);
  await ctx.pool.query('delete from reconcile_differences');
  await ctx.pool.query('delete from reconcile_passes');
});

test('a difference is counted for its offer and alerted', async () => {
  const { ctx } = sale.app;
  const alerts = createAlerts(gaugesOf(sale.app), ctx.log, { chain: CHAIN, address: 'reconcile' });
  const pass = () => reconcileReceipts(ctx, ctx.chains.solana(CHAIN), { seconds: 0, delayMs: 1, alerts });
  const differences = () => scrape('causeway_reconcile_differences');
  await expect
    .poll(() =>
      pass().then(
        () => true,
        () => false,
      ),
    )
    .toBe(true);
  const finished = await value('causeway_reconcile_last_pass_timestamp_seconds');
  expect(await differences()).toEqual([[{ offer: 'harbour-sale' }, 0]]);
  await ctx.pool.query("update participations set amount = amount + 1 where status = 'completed'");
  await pass();
  expect(await differences()).toEqual([[{ offer: 'harbour-sale' }, 1]]);
  expect(await value('causeway_reconcile_last_pass_timestamp_seconds')).toBeGreaterThan(finished ?? 0);
  const waiting = (await scrape('causeway_settlement_waiting')).filter(
    ([{ reason }]) => reason === 'unreconciled',
  );
  expect(waiting[0]?.[1]).toBeGreaterThan(0);
  await ctx.pool.query("update participations set amount = amount - 1 where status = 'completed'");
  await resumeSettlement(ctx, 'harbour-sale');
});
