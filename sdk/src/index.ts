export { formatAmount, parseAmount } from './amounts.ts';
export { type BrowserTokenOptions, browserToken } from './browser-token.ts';
export { CHAINS, chainIdOf, isEvmChain, type SolanaChain, transactionUrl } from './chains.ts';
export { type Causeway, createCauseway } from './client.ts';
export {
  CausewayError,
  type CausewayErrorCode,
  type CausewayErrorOf,
  isCausewayError,
  type LocalCode,
} from './error.ts';
export type { ErrorDetails } from './error-details.ts';
export type { EventStreamOptions } from './event-stream.ts';
export type { EventFilter, EventQuery, Events } from './events.ts';
export type { Documents, Kyc, Pii } from './identity.ts';
export type { FundSwapOffer, OfferInclude, Offers, TokenizedOffer, TokenSaleOffer } from './offers.ts';
export type { Page, PageQuery, Pages } from './paging.ts';
export type { NewParticipation, ParticipationFilter, Participations } from './participations.ts';
export { type Preloaded, preload } from './preload.ts';
export type { Listed, Queries, Query, Resource } from './queries.ts';
export { redact } from './redact.ts';
export type { Call, CausewayOptions, RequestOptions, TokenSource } from './request.ts';
export {
  type DescribedStatus,
  describeStatus,
  type RequirementState,
  type Requirements,
} from './requirements.ts';
export type { Swap, Token } from './swap.ts';
export type { MarketQuery, QuoteQuery, Tokenized, TokenizedOrder, TradingStatusQuery } from './tokenized.ts';
export type { NewChallenge, WalletAllowance, WalletProof, Wallets, WalletToAllow } from './wallets.ts';
export type * from './wire.ts';
