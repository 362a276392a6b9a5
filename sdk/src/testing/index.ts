export {
  createTestWallet,
  type Interceptor,
  ProviderError,
  readSignedText,
  type TestWallet,
  type TestWalletOptions,
  type WalletCall,
} from './evm-wallet.ts';
export { offerFixture, participationFixture } from './fixtures.ts';
export { createMockService, type MockService, type MockState } from './mock-service.ts';
export { type MswHttp, mswHandlers } from './msw.ts';
export { createSandboxClient } from './sandbox-client.ts';
export type {
  SandboxClient,
  SandboxFault,
  SandboxInbox,
  SandboxInboxRequest,
  SandboxMail,
  SandboxOverview,
  SandboxPartner,
  SandboxReview,
  SandboxTokens,
  SandboxUser,
  SandboxVenue,
} from './sandbox-types.ts';
export {
  createSolanaTestWallet,
  readSolanaApproval,
  type SolanaTestWalletOptions,
} from './solana-wallet.ts';
