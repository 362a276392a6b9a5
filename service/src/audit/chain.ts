import { createHash } from 'node:crypto';

/** The chain hash before the first entry. */
export const EMPTY_CHAIN = Buffer.alloc(32);

/**
 * Hashes an entry as it is stored, byte for byte. The prefix keeps hashes of entries and hashes of the chain apart (RFC
 * 6962).
 */
export function hashEntry(entry: string): Buffer {
  return createHash('sha256').update('\u0000').update(entry).digest();
}

export function hashChain(previous: Buffer, leaf: Buffer): Buffer {
  return createHash('sha256').update('\u0001').update(previous).update(leaf).digest();
}
