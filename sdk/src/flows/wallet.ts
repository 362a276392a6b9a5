import type { Hex } from 'viem';

/** An EIP-1193 provider, such as a browser extension or a mobile wallet. */
export type Eip1193Provider = {
  request(call: { method: string; params?: unknown }): Promise<unknown>;
};

/** An EVM account and the provider that signs for it and reads its chain. */
export type EvmWallet = { protocol: 'ethereum'; address: Hex; provider: Eip1193Provider };

/** A Solana account. It only signs messages. */
export type SolanaWallet = {
  protocol: 'solana';
  /** Base58. */
  address: string;
  /** Returns the 64 bytes of the ed25519 signature. */
  signMessage(message: Uint8Array): Promise<Uint8Array>;
};

export type Wallet = EvmWallet | SolanaWallet;
