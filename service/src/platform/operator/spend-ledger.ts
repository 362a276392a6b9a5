import { randomUUID } from 'node:crypto';
import {
  appendFileSync,
  closeSync,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../kernel/clock.ts';
import type { SpendLimits } from '../../kernel/config/operator-key.ts';
import { Blocked } from './blocked.ts';

/**
 * `key` names the role and the chain whose limits apply; it is not a signing key. Of the transactions with the same
 * `key` and `id`, at most one can ever be executed.
 */
export type Spending = { key: string; id: string; fee: bigint; amounts: ReadonlyMap<string, bigint> };

export type SpendLedger = {
  /**
   * Call this before signing. Throws `Blocked` if the spending would exceed a limit. Refused spending does not count.
   */
  reserve(spending: Spending, limits: SpendLimits): void;
};

/** `mark` identifies the entry. A later line with the same mark in `voided` means that the entry was refused. */
type Entry = {
  at: number;
  key: string;
  id: string;
  fee: string;
  amounts: Record<string, string>;
  mark: string;
};
type Line = Entry | { voided: string };

const DAY_MS = 24 * 60 * 60 * 1_000;

/**
 * Opens a ledger in `folder`, with one file per day, or in memory if `folder` is null. The ledger is not in the
 * database, because somebody who can change the database must not be able to reset the limits.
 *
 * Nodes that share the folder share the limits. Each node first appends its entry and then counts the entries before
 * it. So if two nodes sign at the same time, the one that appends last counts the other's entry.
 */
export function openSpendLedger(folder: string | null, clock: Clock): SpendLedger {
  const lines = folder === null ? keepInMemory() : openFolder(folder);
  return {
    reserve: (spending, limits) => {
      if (limits.dailyFee === null && limits.dailyAmounts === null) return;
      const now = clock.now();
      const { key, id, fee, amounts } = spending;
      const texts = Object.fromEntries([...amounts].map(([token, amount]) => [token, String(amount)]));
      const entry = { at: now, key, id, fee: String(fee), amounts: texts, mark: randomUUID() };
      assertWithin(listBefore(lines.read(now), null, now), spending, limits);
      lines.append(entry, now);
      try {
        assertWithin(listBefore(lines.read(now), entry.mark, now), spending, limits);
      } catch (error) {
        lines.append({ voided: entry.mark }, now);
        throw error;
      }
    },
  };
}

/** Returns the entries of the last 24 hours that were not refused: all, or those before the entry with `mark`. */
function listBefore(lines: readonly Line[], mark: string | null, now: number): Entry[] {
  const voided = new Set(lines.flatMap((line) => ('voided' in line ? [line.voided] : [])));
  const end = lines.findIndex((line) => 'mark' in line && line.mark === mark);
  const before = end < 0 ? lines : lines.slice(0, end);
  return before.flatMap((line) =>
    'voided' in line || line.at <= now - DAY_MS || voided.has(line.mark) ? [] : [line],
  );
}

/** Where the lines of a ledger are kept. `read` returns at least the lines of the last 24 hours, oldest first. */
type Lines = { read(now: number): Line[]; append(line: Line, now: number): void };

function keepInMemory(): Lines {
  let all: Line[] = [];
  return {
    read: (now) => {
      all = all.filter((line) => 'voided' in line || line.at > now - DAY_MS);
      return all;
    },
    append: (line) => void all.push(line),
  };
}

/** Keeps the lines in one file per day. Each read parses only the lines that were appended since the previous read. */
function openFolder(folder: string): Lines {
  const files = new Map<string, { offset: number; lines: Line[] }>();
  const read = (name: string): Line[] => {
    const file = files.get(name) ?? { offset: 0, lines: [] };
    files.set(name, file);
    const text = readFrom(join(folder, name), file.offset);
    // If the last line has no newline, it is incomplete and is left for the next read.
    const whole = text.subarray(0, text.lastIndexOf('\n') + 1);
    file.offset += whole.length;
    for (const line of whole.toString('utf8').split('\n')) file.lines.push(...parseLine(line));
    return file.lines;
  };
  return {
    read: (now) => {
      const names = [fileOf(now - DAY_MS), fileOf(now)];
      for (const name of files.keys()) if (!names.includes(name)) files.delete(name);
      return names.flatMap(read);
    },
    append: (line, now) => append(folder, line, now),
  };
}

/**
 * Of several entries with the same id, at most one can be executed, so only their highest fee and their highest
 * amount of each token count.
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
        `the signer refuses: with this transaction, the role ${spending.key} would spend up to ${sum} of ${what} in 24 hours, above the limit of ${limit} in OPERATOR_POLICY_FILE`,
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

function readFrom(path: string, offset: number): Buffer {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return Buffer.alloc(0);
    throw error;
  }
  try {
    const bytes = Buffer.alloc(Math.max(0, fstatSync(file).size - offset));
    return bytes.subarray(0, readSync(file, bytes, 0, bytes.length, offset));
  } finally {
    closeSync(file);
  }
}

/**
 * Nothing was signed for a line that a crash cut off, because the service signs only after it has written the whole
 * line.
 */
function parseLine(line: string): Line[] {
  try {
    return line === '' ? [] : [JSON.parse(line) as Line];
  } catch {
    return [];
  }
}

/** Writes a newline before the line, in case a crash cut off the previous line. */
function append(folder: string, line: Line, now: number): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = openSync(join(folder, fileOf(now)), 'a', 0o600);
  try {
    appendFileSync(file, `\n${JSON.stringify(line)}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  const old = readdirSync(folder).filter(
    (each) => /^spent-[\d-]{10}\.jsonl$/.test(each) && each < fileOf(now - 2 * DAY_MS),
  );
  for (const each of old) rmSync(join(folder, each), { force: true });
}
