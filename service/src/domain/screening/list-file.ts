import { createHash } from 'node:crypto';
import { decodeBase58 } from '../../platform/chain/address.ts';

/** A new list is refused if more than one in five of the previous entries are missing from it. */
const MAX_LOSS_DIVISOR = 5;

export type AddressList = ReadonlySet<string>;

/** One address per line; `#` starts a comment. Throws with the line number if a line contains anything else. */
export function parseSanctions(text: string): AddressList {
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
    list.add(toListed(address));
  }
  return list;
}

/** EVM addresses become lower case. Solana addresses are case-sensitive and stay unchanged. */
export function toListed(address: string): string {
  return /^0x/i.test(address) ? address.toLowerCase() : address;
}

/** Returns why `next` must not replace `previous`, or null if it may. */
export function findListProblem(previous: AddressList, next: AddressList): string | null {
  if (next.size === 0) return 'the file has no addresses';
  let lost = 0;
  for (const address of previous) if (!next.has(address)) lost++;
  return lost * MAX_LOSS_DIVISOR > previous.size
    ? `the file lacks ${lost} of the ${previous.size} addresses in the accepted list`
    : null;
}

/** Returns a hash that identifies the list. The order and the comments of the file do not affect the hash. */
export function hashList(list: AddressList): string {
  return createHash('sha256')
    .update([...list].sort().join('\n'))
    .digest('hex');
}
