'use client';

export type { Ask, Asks, Listed, Resource } from '../asks.ts';
export { type Preloaded, preload } from '../preload.ts';
export { ConnectWalletDialog, type ConnectWalletDialogProps } from './connect-wallet-dialog.tsx';
export type { Protocol, WalletConnector } from './connector.ts';
export { useCauseway } from './context.ts';
export { Countdown, type CountdownProps } from './countdown.tsx';
export { ErrorNotice } from './error-notice.tsx';
export { FundSwapCheckout, type FundSwapCheckoutProps } from './fund-swap-checkout.tsx';
export { hostedIdentity, type IdentityLauncher, type IdentityRequest, sumsubIdentity } from './identity.ts';
export { useInjectedWallets } from './injected.ts';
export { OfferHeader, type OfferPartProps } from './offer-header.tsx';
export { OfferFaq, OfferLinks, OfferMilestones, OfferTerms } from './offer-parts.tsx';
export { OffersGrid, type OffersGridProps } from './offers-grid.tsx';
export { ParticipationsList, type ParticipationsListProps } from './participations-list.tsx';
export { AddressText, Skeleton, StatusBadge, type Tone } from './pieces.tsx';
export { CausewayProvider, type CausewayProviderProps } from './provider.tsx';
export { RequirementsChecklist, type RequirementsChecklistProps } from './requirements-checklist.tsx';
export { SignInCard, type SignInCardProps } from './sign-in-card.tsx';
export { TokenSaleCheckout, type TokenSaleCheckoutProps } from './token-sale-checkout.tsx';
export { TokenizedCheckout, type TokenizedCheckoutProps } from './tokenized-checkout.tsx';
export { type Answer, type HookOptions, useInvalidate } from './use-ask.ts';
export {
  useQuote,
  useSwapOutputToken,
  useSwapPreview,
  useSwapStatus,
  useTokenAllowance,
  useTokenBalance,
  useTradingStatus,
  useWalletAuthorization,
} from './use-chain.ts';
export {
  type ListAnswer,
  useOffer,
  useOffers,
  useRequirementStatuses,
  useRequirements,
} from './use-offers.ts';
export { useConnectedWallets, useParticipation, useParticipations, usePii } from './use-user.ts';
export { type ConnectedWallet, useWallet } from './use-wallet.ts';
export { WalletsList, type WalletsListProps } from './wallets-list.tsx';
