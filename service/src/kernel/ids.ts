import { randomBytes } from 'node:crypto';
import type { Clock } from './clock.ts';

/** Returns random bytes: from the system in production, from a seed in tests. */
export type Random = (size: number) => Buffer;

const BLOCK_BYTES = 4096;

/**
 * Returns random bytes from the system. Requests them in blocks, because one request costs about as much for a block as
 * for the few bytes of an id. No byte is returned twice.
 */
export const systemRandom: Random = (() => {
  let block = Buffer.alloc(0);
  return (size: number) => {
    if (size > BLOCK_BYTES / 16) return randomBytes(size);
    if (size > block.length) block = randomBytes(BLOCK_BYTES);
    const bytes = block.subarray(0, size);
    block = block.subarray(size);
    return bytes;
  };
})();

/** Returns a UUIDv7 (RFC 9562 §5.7). Ids sort by creation time, so that new rows go to one end of an index. */
export function newId(clock: Clock, random: Random): string {
  const hex = Math.floor(clock.now()).toString(16).padStart(12, '0') + random(10).toString('hex');
  const variant = ((Number.parseInt(hex.slice(15, 16), 16) & 0x3) | 0x8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-7${hex.slice(12, 15)}-${variant}${hex.slice(16, 19)}-${hex.slice(19, 31)}`;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/**
 * Returns whether the text is a UUID. Callers check this first, so that a malformed id results in 404, just like an
 * unknown id.
 */
export function isId(text: string): boolean {
  return UUID.test(text);
}
