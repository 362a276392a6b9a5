import { hash as digest } from 'node:crypto';
import { hashNode } from './merkle.ts';

/** The chain hash before the first entry. */
export const EMPTY_CHAIN = Buffer.alloc(32);

/**
 * Hashes the stored text of an entry, byte for byte. The prefix ensures that the hash of an entry never equals a hash
 * of the chain (RFC 6962).
 */
export function hashEntry(entry: string): Buffer {
  return digest('sha256', `\u0000${entry}`, 'buffer');
}

export function hashChain(previous: Buffer, leaf: Buffer): Buffer {
  return hashNode(previous, leaf);
}
