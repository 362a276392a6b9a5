export {
  createTestWallet,
  type Interceptor,
  ProviderError,
  readSignedText,
  type TestWallet,
  type TestWalletOptions,
  type WalletCall,
} from './evm-wallet.ts';
export { createSolanaTestWallet, type SolanaTestWalletOptions } from './solana-wallet.ts';
