import { base58 } from '@scure/base';
import type { Hex } from 'viem';
import { type ChainName, chainFacts } from '../../kernel/chains.ts';

/** Returns the address in the form that is stored and compared (EVM: lower case), or null if it is malformed. */
export function normalizeAddress(chain: ChainName, address: string): string | null {
  if (chainFacts(chain).protocol === 'ethereum')
    return /^0x[0-9a-fA-F]{40}$/.test(address) ? address.toLowerCase() : null;
  return decodeBase58(address, 32) === null ? null : address;
}

/** Lower-cases an EVM address or hash, so that equal values are equal strings. */
export function toLowerHex(text: string): Hex {
  return text.toLowerCase() as Hex;
}

export function decodeBase58(text: string, size: number): Uint8Array | null {
  // Decoding takes quadratic time, so reject text that is too long for `size` bytes.
  if (text.length > Math.ceil(size * 1.37)) return null;
  try {
    const bytes = base58.decode(text);
    return bytes.length === size ? bytes : null;
  } catch {
    return null;
  }
}

/** Returns the text form of a transaction hash. EVM hashes have 32 bytes, Solana signatures 64. */
export function showHash(hash: Buffer): string {
  return hash.length === 32 ? `0x${hash.toString('hex')}` : base58.encode(hash);
}

export function parseHash(chain: ChainName, text: string): Buffer | null {
  if (chainFacts(chain).protocol === 'ethereum')
    return /^0x[0-9a-fA-F]{64}$/.test(text) ? Buffer.from(text.slice(2), 'hex') : null;
  const bytes = decodeBase58(text, 64);
  return bytes === null ? null : Buffer.from(bytes);
}
