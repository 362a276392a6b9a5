import {
  appendFileSync,
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../clock.ts';
import { Blocked } from './blocked.ts';

/**
 * The most that a transaction can move. At most one transaction with this `key` and `id` can ever be
 * executed.
 */
export type Spending = { key: string; id: string; fee: bigint; amounts: ReadonlyMap<string, bigint> };

/** How much a key may spend in 24 hours on fees, and how much of each token. Null = no limit. */
export type SpendLimits = { dailyFee: bigint | null; dailyAmounts: ReadonlyMap<string, bigint> | null };

/** Counts what keys sign. */
export type SpendLedger = {
  /** Records the spending before it is signed. Throws `Blocked`, and records nothing, if it would exceed a limit. */
  reserve(spending: Spending, limits: SpendLimits): void;
};

type Entry = { at: number; key: string; id: string; fee: string; amounts: Record<string, string> };

const DAY_MS = 24 * 60 * 60 * 1_000;

/**
 * Opens a ledger in `folder`, with one file per day, or in memory if `folder` is null. It is not in the
 * database, because somebody who can change the database must not be able to reset the limits. Nodes that
 * share the folder share the limits.
 */
export function openSpendLedger(folder: string | null, clock: Clock): SpendLedger {
  let recent: Entry[] = [];
  const read = (): Entry[] => {
    if (folder === null) return recent;
    return [clock.now() - DAY_MS, clock.now()].flatMap((time) => readEntries(join(folder, fileOf(time))));
  };
  return {
    reserve: (spending, limits) => {
      if (limits.dailyFee === null && limits.dailyAmounts === null) return;
      const now = clock.now();
      recent = read().filter(({ at }) => at > now - DAY_MS);
      assertWithin(recent, spending, limits);
      const { key, id, fee, amounts } = spending;
      const texts = Object.fromEntries([...amounts].map(([token, amount]) => [token, String(amount)]));
      const entry = { at: now, key, id, fee: String(fee), amounts: texts };
      if (folder !== null) append(folder, fileOf(now), entry);
      recent.push(entry);
    },
  };
}

/**
 * At most one of several attempts with the same id can be executed, so only the most expensive one counts.
 */
function assertWithin(entries: readonly Entry[], spending: Spending, limits: SpendLimits): void {
  const byId = new Map<string, { fee: bigint; amounts: Map<string, bigint> }>();
  const add = ({ id, fee, amounts }: Spending) => {
    const known = byId.get(id) ?? { fee: 0n, amounts: new Map<string, bigint>() };
    known.fee = larger(known.fee, fee);
    for (const [token, amount] of amounts)
      known.amounts.set(token, larger(known.amounts.get(token) ?? 0n, amount));
    byId.set(id, known);
  };
  for (const { key, id, fee, amounts } of entries) {
    if (key !== spending.key) continue;
    const parsed = Object.entries(amounts).map(([token, amount]) => [token, BigInt(amount)] as const);
    add({ key, id, fee: BigInt(fee), amounts: new Map(parsed) });
  }
  add(spending);
  const all = [...byId.values()];
  const exceed = (what: string, sum: bigint, limit: bigint) => {
    if (sum > limit)
      throw new Blocked(
        'daily_limit',
        `the signer refuses: with this transaction ${spending.key} would spend up to ${sum} of ${what} in 24 hours, above the limit of ${limit} in OPERATOR_POLICY_FILE`,
      );
  };
  const { dailyFee, dailyAmounts } = limits;
  if (dailyFee !== null)
    exceed(
      'fees',
      all.reduce((sum, { fee }) => sum + fee, 0n),
      dailyFee,
    );
  if (dailyAmounts === null) return;
  for (const token of spending.amounts.keys()) {
    const sum = all.reduce((total, { amounts }) => total + (amounts.get(token) ?? 0n), 0n);
    exceed(token, sum, dailyAmounts.get(token) ?? 0n);
  }
}

function larger(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

function fileOf(time: number): string {
  return `spent-${new Date(time).toISOString().slice(0, 10)}.jsonl`;
}

/** Skips a line that a crash cut off: the service signs only after the whole line is written. */
function readEntries(file: string): Entry[] {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
  return text.split('\n').flatMap((line) => {
    try {
      return line === '' ? [] : [JSON.parse(line) as Entry];
    } catch {
      return [];
    }
  });
}

/** Starts with a newline, in case a crash cut off the previous line. */
function append(folder: string, name: string, entry: Entry): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = openSync(join(folder, name), 'a', 0o600);
  try {
    appendFileSync(file, `\n${JSON.stringify(entry)}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  const old = readdirSync(folder).filter(
    (each) => /^spent-[\d-]{10}\.jsonl$/.test(each) && each < fileOf(entry.at - 2 * DAY_MS),
  );
  for (const each of old) rmSync(join(folder, each), { force: true });
}
