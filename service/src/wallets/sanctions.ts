import { unwatchFile, watchFile } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { decodeBase58 } from '../chain/address.ts';
import { ApiError } from '../errors.ts';
import type { Log } from '../log.ts';

/** Addresses that must not be used, whoever asks. */
export type Sanctions = {
  has(address: string): boolean;
  /** Reads the file again; when it cannot be read the former list stays. */
  reload(): Promise<void>;
  close(): void;
};

const LOOK_EVERY = 2_000;

/** Throws when the file cannot be read at the start: without its list the service must not serve. */
export async function openSanctions(
  file: string | null,
  log: Pick<Log, 'info' | 'error'>,
  lookEvery = LOOK_EVERY,
): Promise<Sanctions> {
  if (file === null) return { has: () => false, reload: async () => {}, close: () => {} };
  let list = parseSanctions(await readFile(file, 'utf8'));
  const reload = async () => {
    try {
      list = parseSanctions(await readFile(file, 'utf8'));
      log.info({ addresses: list.size }, 'the sanctions list was read');
    } catch (err) {
      log.error({ err }, 'the sanctions list cannot be read; the former list stays');
    }
  };
  // By polling: it also sees a file that was put in the place of another, on any file system.
  const look = () => void reload();
  watchFile(file, { interval: lookEvery, persistent: false }, look);
  return { has: (address) => list.has(toKey(address)), reload, close: () => unwatchFile(file, look) };
}

/** One address a line; `#` begins a comment. Throws on anything else, naming the line. */
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
      throw new Error(`line ${index + 1} of the sanctions list is no address`);
    list.add(toKey(address));
  }
  return list;
}

/** EVM addresses are the same in any case, Solana ones are not. */
function toKey(address: string): string {
  return /^0x/i.test(address) ? address.toLowerCase() : address;
}

/** To be called at every use of a wallet, whatever it is used for. */
export function assertNotSanctioned({ sanctions }: { sanctions: Sanctions }, address: string): void {
  if (sanctions.has(address)) throw new ApiError('wallet_sanctioned');
}
