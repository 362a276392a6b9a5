/** What EIP-1193 asks of a provider; that of an extension, of a mobile wallet or of a test. */
export type Eip1193Provider = {
  request(call: { method: string; params?: unknown }): Promise<unknown>;
};

/** An EVM account and the provider that signs for it and reads its chain. */
export type EvmWallet = { protocol: 'ethereum'; address: `0x${string}`; provider: Eip1193Provider };

/** A Solana account; it only ever signs messages here. */
export type SolanaWallet = {
  protocol: 'solana';
  /** Base58. */
  address: string;
  /** The 64 bytes of the ed25519 signature. */
  signMessage(message: Uint8Array): Promise<Uint8Array>;
};

export type Wallet = EvmWallet | SolanaWallet;
