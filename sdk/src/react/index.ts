'use client';

export { type Preloaded, preload } from '../preload.ts';
export type { Listed, Queries, Query, Resource } from '../queries.ts';
export type { Appearance, AppearanceVariable } from './appearance.tsx';
export { Checkout, type CheckoutProps, type CheckoutResult } from './checkout/checkout.tsx';
export { FundSwapCheckout, type FundSwapCheckoutProps } from './checkout/fund-swap-checkout.tsx';
export type { OpenApproval } from './checkout/read-open-approvals.ts';
export { TokenSaleCheckout, type TokenSaleCheckoutProps } from './checkout/token-sale-checkout.tsx';
export { TokenizedCheckout, type TokenizedCheckoutProps } from './checkout/tokenized-checkout.tsx';
export type { UnfinishedSale } from './checkout/unfinished-sale.ts';
export type { Amount, Limits } from './checkout/use-amount.ts';
export type { Deployment, DeploymentChoice } from './checkout/use-deployment.ts';
export { type FundSwapState, type UseFundSwapOptions, useFundSwap } from './checkout/use-fund-swap.ts';
export { type TokenSaleState, type UseTokenSaleOptions, useTokenSale } from './checkout/use-token-sale.ts';
export {
  type TokenizedPurchaseState,
  type UseTokenizedPurchaseOptions,
  useTokenizedPurchase,
} from './checkout/use-tokenized-purchase.ts';
export { useCauseway } from './context.ts';
export type { QueryCache, QueryState } from './hooks/query-cache.ts';
export { type UseEventsOptions, useEvents } from './hooks/use-events.ts';
export type { FlowState, FlowView } from './hooks/use-flow.ts';
export {
  useEligibility,
  useOffer,
  useOffers,
  useRequirementStatuses,
  useRequirements,
} from './hooks/use-offers.ts';
export {
  type HookOptions,
  type ListQueryResult,
  type QueryResult,
  useInvalidate,
} from './hooks/use-query.ts';
export { type SessionResult, type SessionUser, useSession } from './hooks/use-session.ts';
export {
  useSwapOutputToken,
  useSwapPreview,
  useSwapStatus,
  useWalletAuthorization,
} from './hooks/use-swaps.ts';
export { useMarket, useQuote, useTokenizedOrders, useTradingStatus } from './hooks/use-tokenized.ts';
export { useTokenAllowance, useTokenBalance } from './hooks/use-tokens.ts';
export { useConnectedWallets, useParticipation, useParticipations, usePii } from './hooks/use-user.ts';
export { type ConnectedWallet, useWallet } from './hooks/use-wallet.ts';
export {
  hostedIdentity,
  type IdentityLauncher,
  type IdentityRequest,
  sumsubIdentity,
} from './identity/identity-launchers.ts';
export {
  RequirementsChecklist,
  type RequirementsChecklistProps,
} from './identity/requirements-checklist.tsx';
export {
  SignedIn,
  SignedOut,
  SignOutButton,
  type SignOutButtonProps,
} from './identity/session-parts.tsx';
export { SignInCard, type SignInCardProps } from './identity/sign-in-card.tsx';
export { useRequirementProgress } from './identity/use-requirement-rows.ts';
export { InitialData, type InitialDataProps } from './initial-data.ts';
export { OfferHeader, type OfferPartProps } from './offers/offer-header.tsx';
export { OfferFaq, OfferLinks, OfferMilestones, OfferTerms } from './offers/offer-sections.tsx';
export { type OfferState, offerState } from './offers/offer-state.tsx';
export { OffersGrid, type OffersGridProps } from './offers/offers-grid.tsx';
export { ParticipationsList, type ParticipationsListProps } from './offers/participations-list.tsx';
export { CausewayProvider, type CausewayProviderProps } from './provider.tsx';
export type { AppearancePart, BlockProps, ClassNames } from './ui/class-names.ts';
export { Countdown, type CountdownProps } from './ui/countdown.tsx';
export { AddressText, Skeleton, StatusBadge, TokenAmount } from './ui/elements.tsx';
export { ErrorNotice } from './ui/error-notice.tsx';
export { formatUsd, groupDigits } from './ui/format.ts';
export type { Tone } from './ui/labels.ts';
export type { Message, Messages } from './ui/messages.ts';
export { ConnectWalletDialog, type ConnectWalletDialogProps } from './wallets/connect-wallet-dialog.tsx';
export type { HostWallet, Protocol, WalletConnection, WalletConnector } from './wallets/connector.ts';
export { useInjectedWallets } from './wallets/injected.ts';
export {
  type AllowWalletState,
  type UseAllowWalletOptions,
  useAllowWallet,
} from './wallets/use-allow-wallet.ts';
export { type BindWalletState, type UseBindWalletOptions, useBindWallet } from './wallets/use-bind-wallet.ts';
export { useStandardWallets } from './wallets/wallet-standard.ts';
export { WalletsList, type WalletsListProps } from './wallets/wallets-list.tsx';
