import { decodeBase58, encodeBase58 } from '../base58.ts';
import type { SolanaWallet } from '../flows/wallet.ts';

export type SolanaTestWalletOptions = {
  /** The base58 encoding of the seed followed by the public key, as Solana wallets export it. */
  privateKey: string;
  /** Called before anything is signed. Return false to reject the request. */
  confirm?: ((message: Uint8Array) => boolean | Promise<boolean>) | undefined;
};

// An Ed25519 private key in PKCS #8 is this prefix followed by the 32-byte seed (RFC 8410).
const PKCS8_PREFIX = [48, 46, 2, 1, 0, 48, 5, 6, 3, 43, 101, 112, 4, 34, 4, 32];

/**
 * Creates a Solana wallet with its private key in the page, for tests and sandboxes only. Signs with WebCrypto.
 *
 * @example
 * ```ts
 * import { createSolanaTestWallet } from '@causeway/sdk/testing';
 *
 * const wallet = createSolanaTestWallet({
 *   privateKey: '2AXDGYSE4f2sz7tvMMzyHvUfcoJmxudvdhBcmiUSo6iuCXagjUCKEQF21awZnUGxmwD4m9vGXuC3qieHXJQHAcT',
 * });
 * console.log(wallet.address);
 * ```
 */
export function createSolanaTestWallet({ privateKey, confirm }: SolanaTestWalletOptions): SolanaWallet {
  const bytes = decodeBase58(privateKey);
  const pkcs8 = new Uint8Array([...PKCS8_PREFIX, ...bytes.slice(0, 32)]);
  return {
    protocol: 'solana',
    address: encodeBase58(bytes.slice(32)),
    signMessage: async (message) => {
      if (confirm !== undefined && !(await confirm(message)))
        throw Object.assign(new Error('User rejected the request.'), { code: 4001 });
      const key = await crypto.subtle.importKey('pkcs8', pkcs8, { name: 'Ed25519' }, false, ['sign']);
      return new Uint8Array(await crypto.subtle.sign('Ed25519', key, new Uint8Array(message)));
    },
  };
}
