import { decodeBase58, encodeBase58 } from '../base58.ts';
import type { SolanaWallet } from '../flows/wallet.ts';

export type SolanaTestWalletOptions = {
  /** The private key in the format that Solana wallets export: the seed and then the public key, encoded in base58. */
  privateKey: string;
  /** Called before anything is signed. Return false to reject the request. */
  confirm?: ((message: Uint8Array) => boolean | Promise<boolean>) | undefined;
  /** The node that receives transactions. Without it, the wallet only signs messages. */
  rpcUrl?: string | undefined;
  /**
   * Called with a transaction's message before the wallet signs the transaction. Return false to reject the
   * transaction. Default: `confirm`.
   */
  confirmTransaction?: ((message: Uint8Array) => boolean | Promise<boolean>) | undefined;
};

const SIGNATURE_BYTES = 64;

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
export function createSolanaTestWallet(options: SolanaTestWalletOptions): SolanaWallet {
  const { confirm, rpcUrl, confirmTransaction = confirm } = options;
  const bytes = decodeBase58(options.privateKey);
  const pkcs8 = new Uint8Array([...PKCS8_PREFIX, ...bytes.slice(0, 32)]);
  const sign = async (message: Uint8Array, ask: SolanaTestWalletOptions['confirm']): Promise<Uint8Array> => {
    if (ask !== undefined && !(await ask(message)))
      throw Object.assign(new Error('User rejected the request.'), { code: 4001 });
    const key = await crypto.subtle.importKey('pkcs8', pkcs8, { name: 'Ed25519' }, false, ['sign']);
    return new Uint8Array(await crypto.subtle.sign('Ed25519', key, new Uint8Array(message)));
  };
  return {
    protocol: 'solana',
    address: encodeBase58(bytes.slice(32)),
    signMessage: (message) => sign(message, confirm),
    ...(rpcUrl !== undefined && {
      signAndSendTransaction: async (transaction) => {
        // The wallet is the only signer, so the message comes after the signature count (one byte) and one signature.
        const message = transaction.slice(1 + SIGNATURE_BYTES);
        const signature = await sign(message, confirmTransaction);
        await send(rpcUrl, Uint8Array.of(1, ...signature, ...message));
        return signature;
      },
    }),
  };
}

async function send(rpcUrl: string, transaction: Uint8Array): Promise<void> {
  const params = [
    btoa(String.fromCharCode(...transaction)),
    { encoding: 'base64', preflightCommitment: 'confirmed' },
  ];
  const response = await fetch(rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'sendTransaction', params }),
    signal: AbortSignal.timeout(20_000),
  });
  const { error } = (await response.json()) as { error?: { message: string } };
  if (error !== undefined) throw new Error(error.message);
}

const APPROVE_CHECKED = 13;

/**
 * Reads a token approval from a transaction's message. Returns what a wallet would show to the user, or null for any
 * other transaction.
 *
 * @example
 * ```ts
 * import { readSolanaApproval } from '@causeway/sdk/testing';
 *
 * console.log(readSolanaApproval(new Uint8Array(4))); // null
 * ```
 */
export function readSolanaApproval(
  message: Uint8Array,
): { mint: string; spender: string; amount: bigint } | null {
  const KEY_BYTES = 32;
  const keys = message[3] ?? 0;
  const key = (index = 0) => encodeBase58(message.slice(4 + KEY_BYTES * index, 4 + KEY_BYTES * (index + 1)));
  // The keys and the blockhash are followed by one instruction with four accounts and ten bytes of data.
  const start = 4 + KEY_BYTES * (keys + 1);
  const [count, , accounts, , mint, spender, , length, tag] = message.slice(start, start + 9);
  if (count !== 1 || accounts !== 4 || length !== 10 || tag !== APPROVE_CHECKED) return null;
  const amount = new DataView(message.slice(start + 9, start + 17).buffer).getBigUint64(0, true);
  return { mint: key(mint), spender: key(spender), amount };
}
