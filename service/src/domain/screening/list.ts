import { readFile, stat } from 'node:fs/promises';
import { Gauge } from 'prom-client';
import { toTimestamp } from '../../kernel/wire.ts';
import type { Kernel } from '../../platform/context/kernel.ts';
import type { Sanctions } from '../../platform/context/ports.ts';
import { type AddressList, findListProblem, hashList, parseSanctions, toListed } from './list-file.ts';
import { readAcceptedList, recordRefusal, SANCTIONS_CHANNEL, saveAcceptedList } from './store.ts';

const POLL_INTERVAL_MS = 2_000;
/** Otherwise, a node that missed the notification would not notice that an operator has accepted the file. */
const RELOAD_INTERVAL_MS = 60_000;

type Parts = Pick<Kernel, 'db' | 'log' | 'clock' | 'listener' | 'metrics'>;

/**
 * Loads the list again when the file changes, or when an operator accepts a rejected list. Rejects one that is
 * unreadable or empty, or lacks more than a fifth of the previous entries: the previous list stays in use, and
 * `causeway_sanctions_list_stale` is 1. At start, the previous list is the last accepted one in the database, and an
 * unreadable or empty file is an error.
 */
export async function openSanctions(
  file: string | null,
  parts: Parts,
  { pollIntervalMs = POLL_INTERVAL_MS, reloadIntervalMs = RELOAD_INTERVAL_MS } = {},
): Promise<Sanctions> {
  const gauges = createGauges(parts);
  if (file === null) return withoutList();
  const listeners: (() => void)[] = [];
  // Reads the file's version before it reads the file, so that a change during the read is noticed.
  let version = await versionOf(file);
  let reloadedAt = performance.now();
  let list = await openFirst(parts, file, gauges.stale);
  let hash = hashList(list);
  gauges.entries.set(list.size);
  const reload = async () => {
    const next = await readChecked(parts, file, list).catch(async (err: unknown) => {
      gauges.stale.set(1);
      await reportRefusal(parts, err);
      return null;
    });
    if (next === null) return;
    gauges.stale.set(0);
    gauges.entries.set(next.size);
    const nextHash = hashList(next);
    if (nextHash === hash) return;
    [list, hash] = [next, nextHash];
    parts.log.info({ addresses: list.size }, 'sanctions list loaded');
    for (const listener of listeners) listener();
  };
  const reloadSoon = () => void reload();
  // Polls the file instead of watching it, because polling detects a replaced file on every file system.
  const timer = setInterval(async () => {
    const current = await versionOf(file);
    if (current === version && performance.now() - reloadedAt < reloadIntervalMs) return;
    [version, reloadedAt] = [current, performance.now()];
    await reload();
  }, pollIntervalMs);
  timer.unref();
  await parts.listener.on(SANCTIONS_CHANNEL, reloadSoon);
  parts.listener.onRestored(reloadSoon);
  return {
    has: (address) => list.has(toListed(address)),
    addresses: () => list,
    hash: () => hash,
    reload,
    onChange: (listener) => void listeners.push(listener),
    close: () => clearInterval(timer),
  };
}

async function versionOf(file: string): Promise<string> {
  return stat(file).then(
    ({ ino, mtimeMs, size }) => `${ino} ${mtimeMs} ${size}`,
    () => 'unreadable',
  );
}

/** Reads the last accepted list from the database. Used by commands, which do not run inside a node. */
export async function readAcceptedSanctions(db: Kernel['db']): Promise<Pick<Sanctions, 'has'>> {
  const accepted = await readAcceptedList(db);
  return { has: (address) => accepted?.addresses.has(toListed(address)) ?? false };
}

function withoutList(): Sanctions {
  return {
    has: () => false,
    addresses: () => new Set(),
    hash: () => null,
    reload: async () => {},
    onChange: () => {},
    close: () => {},
  };
}

/** If the list is rejected, returns the last accepted one. Throws if the file is unreadable or empty. */
async function openFirst(parts: Parts, file: string, stale: Gauge): Promise<AddressList> {
  const accepted = (await readAcceptedList(parts.db))?.addresses ?? new Set<string>();
  const next = parseSanctions(await readFile(file, 'utf8'));
  if (next.size === 0)
    throw new Error(`SANCTIONS_FILE: ${file} has no addresses; set SANCTIONS=none to run without a list`);
  try {
    return await checkAndSave(parts, next, accepted);
  } catch (err) {
    if (!(err instanceof ListRefused)) throw err;
    stale.set(1);
    await reportRefusal(parts, err);
    return accepted;
  }
}

class ListRefused extends Error {
  readonly hash: string;
  constructor(message: string, hash: string) {
    super(message);
    this.name = 'ListRefused';
    this.hash = hash;
  }
}

async function readChecked(parts: Parts, file: string, current: AddressList): Promise<AddressList> {
  return checkAndSave(parts, parseSanctions(await readFile(file, 'utf8')), current);
}

/** Throws `ListRefused` if `next` is empty, or lacks too many entries of `previous` without an operator's consent. */
async function checkAndSave(
  { db, clock }: Parts,
  next: AddressList,
  previous: AddressList,
): Promise<AddressList> {
  const hash = hashList(next);
  const accepted = await readAcceptedList(db);
  const problem = findListProblem(previous, next);
  if (problem !== null && (next.size === 0 || accepted?.hash !== hash)) throw new ListRefused(problem, hash);
  if (accepted?.hash !== hash || accepted.refused_hash !== null)
    await saveAcceptedList(db, { hash, addresses: [...next] }, toTimestamp(clock.micros()));
  return next;
}

async function reportRefusal({ db, log, clock }: Parts, err: unknown): Promise<void> {
  log.error({ err }, 'sanctions list refused; keeping the previous list');
  const reason = err instanceof Error ? err.message : String(err);
  const hash = err instanceof ListRefused ? err.hash : 'unreadable';
  await recordRefusal(db, { hash, reason }, toTimestamp(clock.micros())).catch((error: unknown) =>
    log.warn({ err: error }, 'could not record the refused sanctions list'),
  );
}

function createGauges({ metrics: { registry } }: Parts) {
  const gauge = (name: string, help: string) => new Gauge({ name, help, registers: [registry] });
  return {
    stale: gauge(
      'causeway_sanctions_list_stale',
      '1 while the sanctions file is refused and an older list is in use.',
    ),
    entries: gauge('causeway_sanctions_list_entries', 'Addresses on the sanctions list in use.'),
  };
}
