import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { realClock } from '../../kernel/clock.ts';
import type { SpendLimits } from '../../kernel/config/operator-key.ts';
import { openSpendLedger } from './spend-ledger.ts';

const DAY_MS = 86_400_000;
const folders: string[] = [];
let now: number;
let folder: string;
const clock = { ...realClock(), now: () => now };

beforeEach(() => {
  now = Date.parse('2026-03-01T23:00:00Z');
  folder = mkdtempSync(join(tmpdir(), 'causeway-spent-'));
  folders.push(folder);
});
afterAll(() => {
  for (const each of folders) rmSync(each, { recursive: true });
});

const fees = (dailyFee: bigint): SpendLimits => ({ dailyFee, dailyAmounts: null });
const spend = (id: string, fee: bigint, key = 'key') => ({ key, id, fee, amounts: new Map() });

test('a restart or a second node does not reset what was counted', () => {
  openSpendLedger(folder, clock).reserve(spend('1', 6n), fees(10n));
  const second = openSpendLedger(folder, clock);
  expect(() => second.reserve(spend('2', 5n), fees(10n))).toThrow('would spend up to 11 of fees');
  second.reserve(spend('2', 4n), fees(10n));
  second.reserve(spend('1', 10n, 'another key'), fees(10n));
});

test('a refused transaction does not count, and a replacement counts only once', () => {
  const ledger = openSpendLedger(null, clock);
  ledger.reserve(spend('1', 6n), fees(10n));
  ledger.reserve(spend('1', 8n), fees(10n));
  ledger.reserve(spend('1', 7n), fees(10n));
  expect(() => ledger.reserve(spend('2', 3n), fees(10n))).toThrow('11 of fees');
  ledger.reserve(spend('2', 2n), fees(10n));
});

test('what was spent counts for 24 hours, across midnight, and old files go away', () => {
  const ledger = openSpendLedger(folder, clock);
  ledger.reserve(spend('1', 10n), fees(10n));
  now += DAY_MS - 1;
  expect(() => ledger.reserve(spend('2', 1n), fees(10n))).toThrow('11 of fees');
  now += 2;
  ledger.reserve(spend('2', 10n), fees(10n));
  now += 3 * DAY_MS;
  ledger.reserve(spend('3', 10n), fees(10n));
  expect(readdirSync(folder)).toEqual(['spent-2026-03-05.jsonl']);
});

test('a line that a crash cut off does not hide other lines', () => {
  const ledger = openSpendLedger(folder, clock);
  ledger.reserve(spend('1', 6n), fees(10n));
  appendFileSync(join(folder, 'spent-2026-03-01.jsonl'), '{"at":');
  ledger.reserve(spend('2', 4n), fees(10n));
  expect(() => openSpendLedger(folder, clock).reserve(spend('3', 1n), fees(10n))).toThrow('11 of fees');
});

test('each token has its limit, and a token without one cannot be moved', () => {
  const ledger = openSpendLedger(null, clock);
  const limits = { dailyFee: null, dailyAmounts: new Map([['0xaa', 10n]]) };
  const move = (id: string, token: string, amount: bigint) =>
    ledger.reserve({ ...spend(id, 0n), amounts: new Map([[token, amount]]) }, limits);
  move('1', '0xaa', 6n);
  expect(() => move('2', '0xaa', 5n)).toThrow('11 of 0xaa');
  move('2', '0xaa', 4n);
  expect(() => move('3', '0xbb', 1n)).toThrow('1 of 0xbb');
});

/**
 * The program that each node runs. For each key in turn, it reserves units until the ledger refuses. At the end, it
 * prints how many units it got.
 */
const GREEDY_NODE = `
  const [ledgerFile, clockFile, folder, limit, keys] = process.argv.slice(1);
  const { openSpendLedger } = await import(ledgerFile);
  const { realClock } = await import(clockFile);
  const ledger = openSpendLedger(folder, realClock());
  let got = 0;
  process.stdout.write('ready');
  await new Promise((resolve) => process.stdin.once('data', resolve));
  for (let key = 0; key < Number(keys); key++)
    try {
      for (;;) {
        const id = process.pid + ' ' + got;
        ledger.reserve({ key: 'key ' + key, id, fee: 1n, amounts: new Map() }, { dailyFee: BigInt(limit), dailyAmounts: null });
        got++;
      }
    } catch {}
  console.log(' ' + got);
  process.exit();`;

test('nodes that share the folder and sign at the same time stay within the limits together', async () => {
  const [limit, keys] = [6, 12];
  const files = ['./spend-ledger.ts', '../../kernel/clock.ts'].map(
    (name) => new URL(name, import.meta.url).href,
  );
  const args = ['--import', 'tsx', '--input-type=module', '-e', GREEDY_NODE, ...files];
  const nodes = [1, 2, 3].map(() =>
    spawn(process.execPath, [...args, folder, String(limit), String(keys)], {
      stdio: ['pipe', 'pipe', 'inherit'],
    }),
  );
  await Promise.all(nodes.map(({ stdout }) => once(stdout, 'data')));
  const answers = nodes.map(async ({ stdout }) => String((await once(stdout, 'data'))[0]));
  for (const { stdin } of nodes) stdin.write('go');
  const got = (await Promise.all(answers)).map(Number);
  const total = got.reduce((sum, each) => sum + each, 0);
  expect(total).toBeLessThanOrEqual(limit * keys);
  // An entry that is about to be refused may briefly count against the other nodes, so a few units of a key
  // can stay unused.
  expect(total).toBeGreaterThanOrEqual((limit - 2) * keys);
}, 30_000);
