export type { CalldataClaim, Finding, Verdict } from '@causeway/contracts/encodings/verify-calldata.ts';
export type { EventHub } from '../event-hub.ts';
export {
  type AllowWalletInput,
  type AllowWalletPhase,
  type AllowWalletResult,
  allowWallet,
} from './allow-wallet.ts';
export { type BindWalletInput, type BindWalletPhase, proveAndBindWallet } from './bind-wallet.ts';
export {
  type FlowCode,
  FlowError,
  type FlowOptions,
  isFlowError,
  type SentTransaction,
  type SiweFields,
  type TrustedContracts,
} from './flow.ts';
export { type FundSwapInput, type FundSwapPhase, swapFund } from './fund-swap.ts';
export {
  findOpenApproval,
  type OpenApprovalInput,
  type RevokePhase,
  revokeApproval,
} from './open-approval.ts';
export type { SwapResult } from './outcome.ts';
export type { TokenSaleInput, TokenSalePhase } from './sale-purchase.ts';
export type { SolanaSaleInput, SolanaSalePhase } from './solana-purchase.ts';
export { buyTokenSaleOnSolana } from './solana-sale.ts';
export { buyTokenSale } from './token-sale.ts';
export { buyTokenized, type TokenizedInput, type TokenizedPhase } from './tokenized-purchase.ts';
export { verifyCalldata } from './verify-calldata.ts';
export type {
  ChainReader,
  Eip1193Provider,
  EvmWallet,
  PublicClient,
  SolanaWallet,
  Wallet,
} from './wallet.ts';
export { type WatchedQuote, type WatchOptions, watchQuotes } from './watch-quotes.ts';
