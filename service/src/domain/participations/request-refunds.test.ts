import { userInfo } from 'node:os';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { expectAudited } from '../../../test/support/audited.ts';
import { commandConfig, type Sale, saleWorker, startSale, UNIT } from '../../../test/support/sale.ts';
import { run as runOffer } from '../../edges/cli/offer-command.ts';
import { run as runParticipation } from '../../edges/cli/participation-command.ts';
import type { Config } from '../../kernel/config/config.ts';
import { confirmRefunds, remitParticipations, requestRefunds } from './refunds.ts';

let sale: Sale;
let config: Config;
let ids: string[];

beforeAll(async () => {
  sale = await startSale();
  config = { ...(await commandConfig(sale)), refundDailyLimitUsd: 7 };
  ids = [];
  while (ids.length < 10) {
    for (const buyer of sale.buyers) ids.push((await sale.participate(buyer, 2n * UNIT)).id);
    await saleWorker(sale).settle();
  }
});
afterAll(() => sale.close());
afterEach(() => void vi.restoreAllMocks());

const take = (count: number) => ids.splice(0, count);
async function completeOne(): Promise<string> {
  const { id } = await sale.participate(sale.buyer(0), 2n * UNIT);
  await saleWorker(sale).settle();
  return id;
}

const statuses = (of: string[]) => Promise.all(of.map((id) => sale.statusOf(id)));
const nameRequest = async (refused: Promise<unknown>): Promise<string> => {
  const error = await refused.then(
    () => new Error('was not refused'),
    (thrown: unknown) => thrown,
  );
  const { message, details } = error as { message: string; details?: object };
  return /request ([0-9a-f-]{36})/.exec(`${message} ${JSON.stringify(details)}`)?.[1] ?? message;
};

test('a person refunds alone up to the daily limit, however many requests race', async () => {
  const anna = { name: 'anna', limitUsd: 7 };
  const mine = take(5);
  const results = await Promise.allSettled(mine.map((id) => requestRefunds(sale.app.ctx, anna, [id])));
  expect(results.filter(({ status }) => status === 'fulfilled').length).toBe(3);
  expect((await statuses(mine)).filter((status) => status === 'completed').length).toBe(2);
  const bert = { name: 'bert', limitUsd: 7 };
  const left = mine.filter((_, i) => results[i]?.status === 'rejected');
  expect(await requestRefunds(sale.app.ctx, bert, left)).toBe(2);
  // These participations are already being refunded, so the request adds nothing to the operator's total.
  expect(await requestRefunds(sale.app.ctx, anna, mine)).toBe(0);
});

test('a request above the limit changes nothing until another person confirms it, once', async () => {
  const cora = { name: 'cora', limitUsd: 1 };
  const mine = take(2);
  const request = await nameRequest(remitParticipations(sale.app.ctx, cora, mine));
  expect(await statuses(mine)).toEqual(['completed', 'completed']);
  await expect(confirmRefunds(sale.app.ctx, 'cora', request)).rejects.toMatchObject({
    details: { operator: [expect.stringContaining('another person')] },
  });
  expect(await statuses(mine)).toEqual(['completed', 'completed']);
  await expect(confirmRefunds(sale.app.ctx, 'dora', 'nonsense')).rejects.toMatchObject({ code: 'not_found' });
  expect(await confirmRefunds(sale.app.ctx, 'dora', request)).toBe(2);
  expect(await confirmRefunds(sale.app.ctx, 'dora', request)).toBe(0);
  expect(await statuses(mine)).toEqual(['remit_submitted', 'remit_submitted']);
  await expectAudited(sale.app.ctx, 'refund_request.unconfirmed', 'refund_request.confirmed');
});

test('a request lapses after a day', async () => {
  const request = await nameRequest(requestRefunds(sale.app.ctx, { name: 'emil', limitUsd: 0 }, ids));
  const older = "update refund_requests set inserted_at = now() - interval '25 hours' where id = $1";
  await sale.app.ctx.pool.query(older, [request]);
  await expect(confirmRefunds(sale.app.ctx, 'dora', request)).rejects.toMatchObject({ code: 'not_found' });
});

test('every command that refunds keeps to the limit of its OS user', async () => {
  vi.spyOn(console, 'log').mockImplementation(() => undefined);
  const [one, two, three] = take(3) as [string, string, string];
  await runParticipation(config, ['remit', one, two]);
  expect(await statuses([one, two])).toEqual(['remit_submitted', 'remit_submitted']);
  await runParticipation(config, ['remit', three]);
  const more = { id: await completeOne() };
  const { username } = userInfo();
  const refused = runParticipation(config, ['remit', more.id]);
  await expect(refused).rejects.toThrow(`exceeds what ${username} may refund alone (7 USD)`);
  const request = await nameRequest(runOffer(config, ['refund', 'harbour-sale', '--yes']));
  expect(await sale.statusOf(more.id)).toBe('completed');
  for (const args of [
    ['confirm', request],
    ['confirm', request, '--dry-run'],
  ])
    await expect(runParticipation(config, args)).rejects.toThrow('another person');
  await sale.app.ctx.pool.query("update participations set status = 'remit_failed' where id = $1", [more.id]);
  await expect(runParticipation(config, ['retry', more.id])).rejects.toThrow('may refund alone');
  expect(await sale.statusOf(more.id)).toBe('remit_failed');
});

test('an interrupted request leaves whole batches behind, and the next one requests the remaining refunds', async () => {
  const { ctx } = sale.app;
  const { rows } = await ctx.pool.query(
    `insert into participations select (jsonb_populate_record(p, jsonb_build_object('id', gen_random_uuid(), 'holds_approval', false))).*
    from participations p, generate_series(1, 501) where p.id = $1 returning id`,
    [await completeOne()],
  );
  const copies = rows.map(({ id }) => id as string);
  const progress: number[] = [];
  const interrupt = (done: number) => {
    progress.push(done);
    throw new Error('interrupted');
  };
  const operator = { name: 'erin', limitUsd: null };
  await expect(requestRefunds(ctx, operator, copies, interrupt)).rejects.toThrow('interrupted');
  expect(progress).toEqual([500]);
  expect(await requestRefunds(ctx, operator, copies)).toBe(1);
  expect(await requestRefunds(ctx, operator, copies)).toBe(0);
  const { rows: requested } = await ctx.pool.query(
    `select count(*)::int as n from participations where id = any($1) and status = 'remit_submitted'`,
    [copies],
  );
  expect(requested[0].n).toBe(501);
});
