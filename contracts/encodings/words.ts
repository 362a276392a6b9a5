import type { Hex } from 'viem';

const HEX_VALUE = /^0x(?:[0-9a-f]{40}|[0-9a-f]{64})$/i;

/**
 * Encodes addresses, 32-byte values and unsigned numbers as ABI words, in hex without `0x`. Far cheaper than viem's
 * encoder, which handles all types. Throws for any other value. Does not verify the checksums of addresses.
 */
export function encodeWords(values: readonly unknown[]): string {
  return values.map(encodeWord).join('');
}

function encodeWord(value: unknown): string {
  if (typeof value === 'string' && HEX_VALUE.test(value))
    return value.slice(2).toLowerCase().padStart(64, '0');
  const digits = typeof value === 'bigint' || typeof value === 'number' ? value.toString(16) : '';
  if (!/^[0-9a-f]{1,64}$/.test(digits)) throw new Error('the value does not fit into an ABI word');
  return digits.padStart(64, '0');
}

/** Returns the number in the ABI word that starts at byte `offset` of `data`. Throws if there is no safe integer. */
export function readWord(data: Hex, offset: number): number {
  const start = 2 + 2 * offset;
  const number = Number(`0x${data.slice(start, start + 64)}`);
  if (start + 64 > data.length || !Number.isSafeInteger(number)) throw new Error('not an ABI word');
  return number;
}
