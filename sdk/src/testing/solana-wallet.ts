import { decodeBase58, encodeBase58 } from '../base58.ts';
import type { SolanaWallet } from '../flows/wallet.ts';

export type SolanaTestWalletOptions = {
  /** As Solana wallets export it: base58 of the seed followed by the public key. */
  privateKey: string;
  /** Asked before anything is signed; false is the owner's no. */
  confirm?: ((message: Uint8Array) => boolean | Promise<boolean>) | undefined;
};

// RFC 8410: an Ed25519 private key in PKCS #8 is this prefix and the 32-byte seed.
const PKCS8_PREFIX = [48, 46, 2, 1, 0, 48, 5, 6, 3, 43, 101, 112, 4, 34, 4, 32];

/**
 * A Solana wallet whose key is in this page: for tests and sandboxes, never for money. Signs with WebCrypto.
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
