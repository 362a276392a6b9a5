export {
  createTestWallet,
  type Interceptor,
  ProviderError,
  readSignedText,
  type TestWallet,
  type TestWalletOptions,
  type WalletCall,
} from './evm-wallet.ts';
export {
  createSolanaTestWallet,
  readSolanaApproval,
  type SolanaTestWalletOptions,
} from './solana-wallet.ts';
