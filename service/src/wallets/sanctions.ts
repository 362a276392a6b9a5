import { unwatchFile, watchFile } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { decodeBase58 } from '../chain/address.ts';
import { ApiError } from '../errors.ts';
import type { Log } from '../log.ts';

/** The addresses on the sanctions list. */
export type Sanctions = {
  has(address: string): boolean;
  /** Rereads the file; keeps the previous list if that fails. */
  reload(): Promise<void>;
  close(): void;
};

const POLL_INTERVAL_MS = 2_000;

/** Loads the list and reloads it when the file changes. Throws if the first read fails: the service must not run without it. */
export async function openSanctions(
  file: string | null,
  log: Pick<Log, 'info' | 'error'>,
  pollIntervalMs = POLL_INTERVAL_MS,
): Promise<Sanctions> {
  if (file === null) return { has: () => false, reload: async () => {}, close: () => {} };
  let list = parseSanctions(await readFile(file, 'utf8'));
  const reload = async () => {
    try {
      list = parseSanctions(await readFile(file, 'utf8'));
      log.info({ addresses: list.size }, 'sanctions list loaded');
    } catch (err) {
      log.error({ err }, 'sanctions list reload failed; keeping the previous list');
    }
  };
  // Polling also detects a replaced file, on any file system.
  const onChange = () => void reload();
  watchFile(file, { interval: pollIntervalMs, persistent: false }, onChange);
  return { has: (address) => list.has(toKey(address)), reload, close: () => unwatchFile(file, onChange) };
}

/** Parses one address per line; `#` starts a comment. Throws with the line number of anything else. */
export function parseSanctions(text: string): ReadonlySet<string> {
  const list = new Set<string>();
  for (const [index, line] of text
    .replace(/^\ufeff/, '')
    .split(/\r\n|\r|\n/)
    .entries()) {
    const address = line.replace(/#.*/, '').trim();
    if (address === '') continue;
    const isEvm = /^0x[0-9a-f]{40}$/i.test(address);
    if (!isEvm && decodeBase58(address, 32) === null)
      throw new Error(`sanctions list: line ${index + 1} is not an address`);
    list.add(toKey(address));
  }
  return list;
}

/** EVM addresses are case-insensitive, Solana addresses are not. */
function toKey(address: string): string {
  return /^0x/i.test(address) ? address.toLowerCase() : address;
}

/** Throws `wallet_sanctioned`. Every use of a wallet must call this. */
export function assertNotSanctioned({ sanctions }: { sanctions: Sanctions }, address: string): void {
  if (sanctions.has(address)) throw new ApiError('wallet_sanctioned');
}
