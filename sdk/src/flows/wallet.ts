import type { Hex } from 'viem';
import type { SolanaChain } from '../chains.ts';

/** An EIP-1193 provider, such as a browser extension or a mobile wallet. */
export type Eip1193Provider = {
  request(call: { method: string; params?: unknown }): Promise<unknown>;
};

/**
 * Reads one EVM chain. Any viem public client or EIP-1193 provider qualifies. The type of the parameter is `never`, so
 * that clients with a stricter parameter type are accepted too.
 */
export type ChainReader = { request(call: never): Promise<unknown> };

/** A reader for the app's only chain, or a function that returns the reader for a chain id. */
export type PublicClient = ChainReader | ((chainId: number) => ChainReader | undefined);

/** An EVM account and the provider that signs for it and reads its chain. */
export type EvmWallet = { protocol: 'ethereum'; address: Hex; provider: Eip1193Provider };

/** A Solana account. Investing on Solana requires `signAndSendTransaction` or `signTransaction`. */
export type SolanaWallet = {
  protocol: 'solana';
  /** Base58. */
  address: string;
  /** Returns the 64-byte ed25519 signature. */
  signMessage(message: Uint8Array): Promise<Uint8Array>;
  /** Signs and sends a transaction in wire format, and returns its 64-byte signature. */
  signAndSendTransaction?(transaction: Uint8Array, chain: SolanaChain): Promise<Uint8Array>;
  /**
   * Signs a transaction in wire format and returns the signed transaction. For wallets that cannot send transactions.
   */
  signTransaction?(transaction: Uint8Array, chain: SolanaChain): Promise<Uint8Array>;
};

export type Wallet = EvmWallet | SolanaWallet;
