import type { Hex } from 'viem';

const ZEROS = '0'.repeat(64);
const HEX_VALUE = /^0x(?:[0-9a-f]{40}|[0-9a-f]{64})$/i;

/**
 * Encodes addresses, 32-byte values and unsigned numbers as ABI words, in hex without `0x`. Far cheaper than viem's
 * encoder, which handles all types. Throws for any other value. Does not verify the checksums of addresses.
 */
export function encodeWords(values: readonly unknown[]): string {
  let words = '';
  for (const value of values) {
    const digits = digitsOf(value);
    if (digits === '' || digits.length > 64) throw new Error('the value does not fit into an ABI word');
    // `padStart` would build the padding anew for every word.
    words += ZEROS.slice(digits.length) + digits;
  }
  return words;
}

/** Returns the value in hex, or an empty string if it is not an address, a 32-byte value or an unsigned number. */
function digitsOf(value: unknown): string {
  if (typeof value === 'string') return HEX_VALUE.test(value) ? value.slice(2).toLowerCase() : '';
  if (typeof value === 'bigint') return value < 0n ? '' : value.toString(16);
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number).toString(16) : '';
}

/** Encodes bytes as their length and their content, padded to whole ABI words, in hex without `0x`. */
export function encodeBytes(value: Hex): string {
  if (!/^0x(?:[0-9a-f]{2})*$/i.test(value)) throw new Error('the value is not hex data');
  const content = value.slice(2);
  return encodeWords([content.length / 2]) + content.padEnd(Math.ceil(content.length / 64) * 64, '0');
}

/** Returns the number in the ABI word that starts at byte `offset` of `data`. Throws if there is no safe integer. */
export function readWord(data: Hex, offset: number): number {
  const start = 2 + 2 * offset;
  const number = Number(`0x${data.slice(start, start + 64)}`);
  if (start + 64 > data.length || !Number.isSafeInteger(number)) throw new Error('not an ABI word');
  return number;
}
