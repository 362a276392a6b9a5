import { createHash } from 'node:crypto';
import { userInfo } from 'node:os';
import { roles } from '@causeway/sandbox/seed/keys.ts';
import { afterEach, beforeAll, expect, test, vi } from 'vitest';
import { expectAudited } from '../../../test/support/audited.ts';
import { commandConfig, saleWorker, UNIT } from '../../../test/support/sale.ts';
import { forgetTransaction, sendForeignTransaction, useSale } from '../../../test/support/settlement.ts';
import { run as runOffer } from '../../edges/cli/offer-command.ts';
import { run as runOperator } from '../../edges/cli/operator-command.ts';
import { run as runParticipation } from '../../edges/cli/participation-command.ts';
import { run as runSettlement } from '../../edges/cli/settlement-command.ts';
import type { Config } from '../../kernel/config/config.ts';
import { recordRefundLimit } from '../participations/refund-store.ts';
import { requestRefunds } from '../participations/refunds.ts';

const sale = useSale();
let config: Config;
/** Configures no private keys, because the commands must work on a machine without any. */
beforeAll(async () => {
  const noKeys = { operatorKey: null, supplierKey: null, solanaKey: null, roleKeys: [], retiredKeys: [] };
  config = { ...(await commandConfig(sale)), ...noKeys };
});
afterEach(() => {
  process.exitCode = undefined;
  sale.resumeMining();
  vi.restoreAllMocks();
});

const TABLES = [
  ...['participations', 'events', 'operator_keys', 'operator_transactions', 'operator_attempts'],
  ...['settlement_pauses', 'refund_requests', 'refund_limits', 'reconcile_passes', 'reconcile_differences'],
];

/** Returns a hash of every table that the commands touch, and the state of the chain. */
async function dump(): Promise<string> {
  const { pool } = sale.app.ctx;
  const parts = await Promise.all(
    TABLES.map(async (table) => {
      const { rows } = await pool.query(`select t::text from ${table} t order by 1`);
      return `${table} ${createHash('sha256').update(JSON.stringify(rows)).digest('hex')}`;
    }),
  );
  const block = await sale.chain.direct.getBlock({ blockTag: 'pending' });
  return [...parts, block.number, block.parentHash, ...block.transactions].join('\n');
}

type Command = (config: Config, args: string[]) => Promise<void>;

/** Runs a command with --dry-run, checks that it changed nothing, and returns what it printed or why it was refused. */
async function dryRun(command: Command, ...args: string[]): Promise<string> {
  const log = vi.spyOn(console, 'log').mockImplementation(() => undefined);
  vi.spyOn(console, 'error').mockImplementation(() => undefined);
  log.mockClear();
  const before = await dump();
  const refusal = await command(config, [...args, '--dry-run']).then(
    () => '',
    (error: Error) => error.message,
  );
  expect(await dump()).toBe(before);
  return `${log.mock.calls.flat().join('\n')}${refusal}`;
}

async function completeOne(buyer: number): Promise<string> {
  const { id } = await sale.participate(sale.buyer(buyer), 2n * UNIT);
  await saleWorker(sale).settle();
  return id;
}

test('participation cancel, retry and remit print the status that would follow, or the rule that refuses', async () => {
  const completed = await completeOne(0);
  const { id: pending } = await sale.participate(sale.buyer(1), 2n * UNIT);
  expect(await dryRun(runParticipation, 'cancel', pending)).toBe(`${pending} would become failed`);
  expect(await dryRun(runParticipation, 'cancel', completed)).toContain('only prepared and pending');
  // If one of several participations is refused, the whole command is refused.
  expect(await dryRun(runParticipation, 'cancel', pending, completed)).toContain('only prepared and pending');
  expect(await dryRun(runParticipation, 'retry', pending)).toBe(`${pending} would become pending`);
  expect(await dryRun(runParticipation, 'retry', completed)).toContain('nothing to retry');
  expect(await dryRun(runParticipation, 'remit', completed)).toBe(
    `${completed} would become remit_submitted`,
  );
  expect(await dryRun(runParticipation, 'remit', pending)).toContain('only completed participations');
  await saleWorker(sale).settle();
});

test('remit, confirm and offer refund apply the limit of the nodes, whatever the environment of the command says', async () => {
  const { ctx } = sale.app;
  await recordRefundLimit(ctx.db, 1);
  const { rows } = await ctx.pool.query("select id from participations where status = 'completed'");
  const ids = rows.map(({ id }) => id as string);
  const { username } = userInfo();
  expect(config.refundDailyLimitUsd).toBeNull();
  expect(await dryRun(runParticipation, 'remit', ...ids)).toContain('may refund alone (1 USD)');
  const waiting = await dryRun(runOffer, 'refund', 'harbour-sale');
  expect(waiting).toContain('another person would have to confirm. Nothing was changed.');
  for (const id of ids) expect(waiting).toContain(`${id} would wait for confirmation`);
  await expect(runParticipation(config, ['remit', ...ids])).rejects.toThrow('(1 USD)');
  const refused = await requestRefunds(ctx, { name: 'another', limitUsd: null }, ids).catch((error) => error);
  const request = /request ([0-9a-f-]{36})/.exec(JSON.stringify(refused.details))?.[1] ?? '';
  const confirmed = await dryRun(runParticipation, 'confirm', request);
  expect(confirmed).toContain(`another requested ${ids.length} refunds totalling`);
  expect(confirmed).toMatch(
    new RegExp(`^${ids.length} refunds totalling \\d+ USD would be requested. Nothing was changed.$`, 'm'),
  );
  await ctx.pool.query('update refund_requests set operator = $1 where id = $2', [username, request]);
  expect(await dryRun(runParticipation, 'confirm', request)).toContain('another person has to confirm');
  // If a node starts with a higher limit or without one, the old limit still applies for a day. A stricter
  // limit applies immediately.
  const limit = async () => /\((\d+) USD\)/.exec(await dryRun(runParticipation, 'remit', ...ids))?.[1];
  await recordRefundLimit(ctx.db, null);
  await recordRefundLimit(ctx.db, 3);
  expect(await limit()).toBe('1');
  await expectAudited(ctx, 'refund_limit.insert');
  await ctx.pool.query("update refund_limits set recorded_at = recorded_at - interval '25 hours'");
  expect(await limit()).toBe('3');
  await recordRefundLimit(ctx.db, 2);
  expect(await limit()).toBe('2');
  config = { ...config, refundDailyLimitUsd: 0 };
  expect(await limit()).toBe('0');
  config = { ...config, refundDailyLimitUsd: null };
  await recordRefundLimit(ctx.db, null);
  await ctx.pool.query("update refund_limits set recorded_at = recorded_at - interval '25 hours'");
  expect(await dryRun(runParticipation, 'remit', ...ids)).toContain('would become remit_submitted');
});

test('offer refund and confirm name exactly the participations that the command then refunds', async () => {
  const { ctx } = sale.app;
  await completeOne(4);
  const { id: pending } = await sale.participate(sale.buyer(1), 2n * UNIT);
  const statuses = async () =>
    new Map(
      (await ctx.pool.query('select id, status from participations')).rows.map(({ id, status }) => [
        id,
        status,
      ]),
    );
  const planned = (text: string) =>
    [...text.matchAll(/^(\S+) would become remit_submitted$/gm)].map(([, id]) => id);
  const before = await statuses();
  const plan = await dryRun(runOffer, 'refund', 'harbour-sale');
  const refundable = [...before].flatMap(([id, status]) => (status === 'completed' ? [id] : []));
  expect(refundable.length).toBeGreaterThan(1);
  expect(planned(plan).sort()).toEqual(refundable.sort());
  expect(plan).toContain(
    `${refundable.length} refunds totalling ${2 * refundable.length} USD would be requested`,
  );

  // One of the requested refunds is already submitted when the request is confirmed.
  await recordRefundLimit(ctx.db, 1);
  const refused = await requestRefunds(ctx, { name: 'another', limitUsd: 0 }, refundable).catch(
    (error) => error,
  );
  const request = /request ([0-9a-f-]{36})/.exec(JSON.stringify(refused.details))?.[1] ?? '';
  const [done, ...left] = refundable;
  await ctx.pool.query("update participations set status = 'remit_submitted' where id = $1", [done]);
  const confirmation = await dryRun(runParticipation, 'confirm', request);
  expect(planned(confirmation).sort()).toEqual(left.sort());
  expect(confirmation).toContain(`${done} would not change`);
  vi.spyOn(console, 'log').mockImplementation(() => undefined);
  await runParticipation(config, ['confirm', request]);
  const after = await statuses();
  for (const [id, status] of before)
    expect(after.get(id)).toBe(refundable.includes(id) ? 'remit_submitted' : status);
  expect(after.get(pending)).toBe('pending');
  await ctx.pool.query("update refund_limits set recorded_at = recorded_at - interval '25 hours'");
  await saleWorker(sale).settle();
});

test('settlement pause and resume', async () => {
  expect(await dryRun(runSettlement, 'pause', 'harbour-sale')).toBe('harbour-sale would be paused');
  expect(await dryRun(runSettlement, 'resume', 'harbour-sale')).toBe('harbour-sale is not paused');
  vi.spyOn(console, 'log').mockImplementation(() => undefined);
  await runSettlement(config, ['pause', 'harbour-sale']);
  expect(await dryRun(runSettlement, 'pause', 'harbour-sale')).toBe('harbour-sale is already paused');
  expect(await dryRun(runSettlement, 'resume', 'harbour-sale')).toBe('harbour-sale would be resumed');
  expect(await dryRun(runSettlement, 'pause', 'nonsense')).toContain('neither a chain nor the slug');
  await runSettlement(config, ['resume', 'harbour-sale']);
});

test('operator bump and cancel', async () => {
  expect(await dryRun(runOperator, 'bump', 'ethereum_sepolia')).toContain('is waiting to be mined');
  await sale.participate(sale.buyer(2), 2n * UNIT);
  sale.pauseMining();
  await saleWorker(sale).round();
  for (const action of ['bump', 'cancel'])
    expect(JSON.parse(await dryRun(runOperator, action, 'ethereum_sepolia'))).toMatchObject({ action });
  await sale.mine(1);
  await saleWorker(sale).settle();
});

test('operator reconcile and adopt', async () => {
  const { id } = await sale.participate(sale.buyer(3), 2n * UNIT);
  sale.pauseMining();
  await saleWorker(sale).round();
  await forgetTransaction(sale, id, 'commit');
  await sale.mine(1);
  sale.resumeMining();
  expect(await dryRun(runOperator, 'reconcile', 'ethereum_sepolia')).toContain(`${id} becomes completed`);
  vi.spyOn(console, 'log').mockImplementation(() => undefined);
  await runOperator(config, ['reconcile', 'ethereum_sepolia', '--yes']);
  await sendForeignTransaction(sale);
  await sale.mine(70);
  const { address } = roles.operator;
  const adoption = await dryRun(runOperator, 'adopt', 'ethereum_sepolia');
  const [, planned] =
    /^The next nonce of (?:\S+) on ethereum_sepolia would be (\d+)\.$/m.exec(adoption) ?? [];
  expect(adoption).toContain(`of ${address.toLowerCase()} on`);
  expect(Number(planned)).toBe(await sale.chain.direct.getTransactionCount({ address }));
  await sale.app.ctx.pool.query('update participations set amount = amount + 1 where id = $1', [id]);
  expect(await dryRun(runOperator, 'reconcile', 'ethereum_sepolia')).toContain('pause offer');
  await sale.app.ctx.pool.query('update participations set amount = amount - 1 where id = $1', [id]);
});
