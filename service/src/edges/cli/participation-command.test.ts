import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { commandConfig, type Sale, saleWorker, startSale, UNIT } from '../../../test/support/sale.ts';
import { showProgress } from '../../domain/participations/report-text.ts';
import type { Config } from '../../kernel/config/config.ts';
import { run as runOffer } from './offer-command.ts';
import { run as runParticipation } from './participation-command.ts';

let sale: Sale;
let config: Config;
let folder: string;
let id: string;

beforeAll(async () => {
  sale = await startSale();
  config = await commandConfig(sale);
  folder = await mkdtemp(join(tmpdir(), 'causeway-export-'));
  const [buyer] = sale.buyers;
  if (buyer === undefined) throw new Error('no buyer');
  id = (await sale.participate(buyer, 1_250_000n)).id;
  await sale.participate(buyer, 3n * UNIT, 5n * UNIT);
  await buyer.approve(1_250_000n);
  await saleWorker(sale).settle();
});
afterAll(async () => {
  await rm(folder, { recursive: true });
  await sale.close();
});
afterEach(() => void vi.restoreAllMocks());

async function run(...args: string[]): Promise<string> {
  const log = vi.spyOn(console, 'log').mockImplementation(() => undefined);
  log.mockClear();
  await runParticipation(config, args);
  return log.mock.calls.flat().join('\n');
}

test('list shows the newest first, filtered by its options', async () => {
  expect((await run('list')).split('\n').length).toBe(2);
  const completed = await run('list', '--status', 'completed', '--offer', 'harbour-sale');
  expect(completed).toContain('1.25 USDC');
  expect(await run('list', '--status', 'remitted')).toBe('');
  await expect(run('list', '--offer', 'nonsense')).rejects.toThrow('--offer nonsense does not exist');
});

test('show prints a participation with its transactions and its history', async () => {
  const shown = JSON.parse(await run('show', id));
  expect(shown).toMatchObject({ id, status: 'completed', amount: '1250000', offer: 'harbour-sale' });
  expect(shown.commit_hash).toMatch(/^0x[0-9a-f]{64}$/);
  expect(shown.history.map(({ status }: { status: string }) => status)).toEqual([
    'pending',
    'submitted',
    'completed',
  ]);
  await expect(run('show', 'nonsense')).rejects.toThrow('participation nonsense does not exist');
});

test('an id that does not exist is named, and nothing is changed', async () => {
  for (const name of ['remit', 'cancel', 'retry'])
    await expect(run(name, id, 'nonsense')).rejects.toThrow('participation nonsense does not exist');
  expect(JSON.parse(await run('show', id)).status).toBe('completed');
  for (const more of [[], ['--dry-run']])
    await expect(run('confirm', 'nonsense', ...more)).rejects.toThrow(
      'there is no request nonsense from the last 24 hours',
    );
});

test('export writes every row once, as CSV', async () => {
  const file = join(folder, 'all.csv');
  await run('export', '--csv', '--write', file);
  const [header, ...lines] = (await readFile(file, 'utf8')).trimEnd().split('\r\n');
  expect(header?.split(',').slice(0, 4)).toEqual(['id', 'inserted_at', 'updated_at', 'status']);
  expect(lines.length).toBe(2);
  expect(lines.find((line) => line.startsWith(id))).toContain(',1.25,USDC,');
  await expect(run('export')).rejects.toThrow('--csv');
});

test('remit requests the refund, and refuses participations that are not completed', async () => {
  expect(await run('remit', id)).toBe(`${id} remit_submitted`);
  await saleWorker(sale).settle();
  expect(await sale.statusOf(id)).toBe('remitted');
  const failed = (await run('list', '--status', 'failed')).split(' ')[0] ?? '';
  await expect(run('remit', failed)).rejects.toThrow('only completed participations can be refunded');
});

test('cancel fails only participations for which nothing is signed yet', async () => {
  const [buyer] = sale.buyers;
  if (buyer === undefined) throw new Error('no buyer');
  const pending = await sale.participate(buyer, 2n * UNIT);
  expect(await run('cancel', pending.id, '--dry-run')).toBe(`${pending.id} would become failed`);
  expect(await sale.statusOf(pending.id)).toBe('pending');
  expect(await run('retry', pending.id)).toBe(`${pending.id} pending`);
  expect(await run('cancel', pending.id)).toBe(`${pending.id} failed`);
  expect(await sale.reasonOf(pending.id)).toBe('cancelled');
  await saleWorker(sale).settle();
  expect(await sale.statusOf(pending.id)).toBe('failed');
  await expect(run('cancel', id)).rejects.toThrow(
    'only prepared and pending participations can be cancelled',
  );
  await expect(run('retry', pending.id)).rejects.toThrow('there is nothing to retry');
  await expect(run('list', '--dry-run')).rejects.toThrow('does not take --dry-run');
});

test.each([
  ['cancel', 'failed', 'only prepared and pending participations can be cancelled'],
  ['retry', 'pending', 'there is nothing to retry'],
])(
  '%s prints what it has changed before it refuses a participation, and names that one',
  async (name, status, why) => {
    const { id: pending } = await sale.participate(sale.buyer(2), 2n * UNIT);
    const lines: unknown[] = [];
    const printed = vi.spyOn(console, 'log').mockImplementation((line) => void lines.push(line));
    const refusal = `participation ${id} is remitted; ${why}`;
    for (const [option, text] of [
      [['--dry-run'], `would become ${status}`],
      [[], status],
    ] as const) {
      await expect(runParticipation(config, [name, pending, id, ...option])).rejects.toThrow(refusal);
      expect(lines.splice(0)).toEqual([`${pending} ${text}`]);
    }
    printed.mockRestore();
    expect(await sale.statusOf(pending)).toBe(status);
    if (status === 'pending') await run('cancel', pending);
  },
);

test('retry settles a postponed row immediately', async () => {
  const [, buyer] = sale.buyers;
  if (buyer === undefined) throw new Error('no buyer');
  const { id: waiting } = await sale.participate(buyer, 2n * UNIT);
  await sale.app.ctx.pool.query("update participations set check_at = 'infinity' where id = $1", [waiting]);
  await saleWorker(sale).round();
  expect(await sale.statusOf(waiting)).toBe('pending');
  await run('retry', waiting);
  await saleWorker(sale).round();
  expect(await sale.statusOf(waiting)).not.toBe('pending');
  await saleWorker(sale).settle();
});

test('retry says why a failed refund is not requested again', async () => {
  const change = (status: string, reason: string | null) =>
    sale.app.ctx.pool.query('update participations set status = $2, frozen_reason = $3 where id = $1', [
      ...[id, status, reason],
    ]);
  await change('remit_failed', 'sanctions');
  expect(await run('retry', id)).toBe(
    `${id} remit_failed, not refunded because of a hold or a sanction; see "causeway participation show"`,
  );
  await change('remitted', null);
});

test('offer refund requests every refund of the offer once', async () => {
  const refund = async (...args: string[]) => {
    const log = vi.spyOn(console, 'log').mockImplementation(() => undefined);
    log.mockClear();
    await runOffer(config, ['refund', ...args]);
    return log.mock.calls.flat();
  };
  const { pool } = sale.app.ctx;
  const none = [
    '0 participations of harbour-sale can be refunded',
    '1 more participation cannot be refunded until the freezes and holds are released',
  ];
  await pool.query("update participations set frozen_reason = 'sanctions'");
  // There is nothing to change, so nothing to confirm.
  for (const option of [[], ['--dry-run'], ['--yes']])
    expect(await refund('harbour-sale', ...option)).toEqual(none);
  expect(process.exitCode).toBeUndefined();
  await pool.query('update participations set frozen_reason = null');
  await pool.query('update users set held_at = inserted_at');
  await refund('harbour-sale');
  expect(process.exitCode).toBe(2);
  process.exitCode = undefined;
  expect(await refund('harbour-sale', '--dry-run')).toEqual([
    ...none,
    expect.stringMatching(/^[0-9a-f-]{36} would be frozen$/),
    '0 refunds totalling 0 USD would be requested. Nothing was changed.',
  ]);
  const listUnfrozen = async () =>
    (await pool.query("select from participations where status = 'completed' and frozen_reason is null"))
      .rows;
  expect(await listUnfrozen()).toHaveLength(1);
  expect(await refund('harbour-sale', '--yes')).toEqual([
    ...none,
    '1 participation of users on hold will be frozen',
    '0 refunds requested',
  ]);
  // The participation is now frozen, to record why it was not refunded.
  expect(await listUnfrozen()).toEqual([]);
  expect(await refund('harbour-sale')).toEqual(none);
  await pool.query('update participations set frozen_reason = null');
  await pool.query('update users set held_at = null');
  expect(await refund('harbour-sale', '--dry-run')).toEqual([
    '1 participation of harbour-sale can be refunded',
    expect.stringMatching(/^[0-9a-f-]{36} would become remit_submitted$/),
    '1 refund totalling 2 USD would be requested. Nothing was changed.',
  ]);
  expect(await refund('harbour-sale', '--yes')).toContain('1 refund requested');
  await saleWorker(sale).settle();
  expect(await refund('harbour-sale', '--yes')).toEqual(['0 participations of harbour-sale can be refunded']);
  const { rows } = await sale.app.ctx.pool.query(
    "select count(*)::int as n from participations where status = 'remitted'",
  );
  expect(rows[0].n).toBe(2);
  await expect(refund('nonsense', '--yes')).rejects.toThrow('offer nonsense does not exist');
});

test('long exports show a progress bar on a terminal and nothing in a file', () => {
  const people = Object.assign(new PassThrough(), { isTTY: true });
  const bar = showProgress(4_000, people);
  bar.at(2_000);
  bar.end();
  expect(String(people.read())).toContain(`${'█'.repeat(15)}${'░'.repeat(15)} 50% (2000 of 4000)`);
  const file = new PassThrough();
  showProgress(4_000, file).at(2_000);
  expect(file.read()).toBeNull();
});
