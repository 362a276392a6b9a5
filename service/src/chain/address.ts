import { base58 } from '@scure/base';
import { type ChainName, chainFacts } from './chains.ts';

/** The address as it is kept and compared: EVM ones in lower case, Solana ones as they are. Null when it is none. */
export function normalizeAddress(chain: ChainName, address: string): string | null {
  if (chainFacts(chain).protocol === 'ethereum')
    return /^0x[0-9a-fA-F]{40}$/.test(address) ? address.toLowerCase() : null;
  return decodeBase58(address, 32) === null ? null : address;
}

/** Null unless it is base58 of exactly so many bytes. */
export function decodeBase58(text: string, size: number): Uint8Array | null {
  // Decoding is quadratic: nothing longer than what so many bytes can need.
  if (text.length > Math.ceil(size * 1.37)) return null;
  try {
    const bytes = base58.decode(text);
    return bytes.length === size ? bytes : null;
  } catch {
    return null;
  }
}
