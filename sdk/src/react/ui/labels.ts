import type { StatusWord } from '../../requirements.ts';
import type { Offer, Participation, Requirement } from '../../wire.ts';
import type { Tone } from './elements.tsx';

export const OFFER_TYPES: Record<Offer['type'], string> = {
  'platform::token_sale': 'Token sale',
  'fund::swap': 'Fund',
  'tokenized::swap': 'Tokenized asset',
};

export type OfferState = 'upcoming' | 'open' | 'ended';

export function offerState(
  { starts_at, ends_at }: Pick<Offer, 'starts_at' | 'ends_at'>,
  now: number,
): OfferState {
  if (starts_at !== null && now < Date.parse(starts_at)) return 'upcoming';
  return ends_at !== null && now >= Date.parse(ends_at) ? 'ended' : 'open';
}

export const OFFER_STATES: Record<OfferState, readonly [Tone, string]> = {
  upcoming: ['attention', 'Opens soon'],
  open: ['good', 'Open'],
  ended: ['neutral', 'Ended'],
};

export const REQUIREMENTS: Record<Requirement['type'], readonly [name: string, why: string]> = {
  identity_verification: ['Confirm who you are', 'The law asks us to know who invests.'],
  kyc_approved: ['Verify your identity', 'A photo of your passport or identity card, and one of yourself.'],
  accreditation: [
    'Confirm that you are an accredited investor',
    'This offer is open to accredited investors only.',
  ],
  external_wallet: ['Connect your wallet', 'Shows that the wallet you invest from is yours.'],
  whitelisted_wallet: ['Register a wallet for this offer', 'Only registered wallets can take part.'],
  document: ['Sign your tax form', 'Certifies where you pay tax (form W-8BEN or W-8BEN-E).'],
  jurisdiction: ['Live where this offer is available', 'Local rules decide who can invest.'],
};

export const STATUSES: Record<StatusWord, readonly [Tone, string]> = {
  not_started: ['neutral', 'To do'],
  in_progress: ['busy', 'In progress'],
  action_needed: ['attention', 'Your turn'],
  completed: ['good', 'Done'],
  rejected: ['bad', 'Not accepted'],
};

type ParticipationWords = readonly [Tone, short: string, long: string];
export const PARTICIPATIONS: Record<Participation['status'], ParticipationWords> = {
  prepared: ['busy', 'Confirming approval', 'Waiting for the network to confirm your approval.'],
  pending: ['busy', 'Accepted', 'Your approval is confirmed. The amount is about to be collected.'],
  submitted: ['busy', 'Collecting', 'The amount is being collected from your wallet.'],
  completed: ['good', 'Completed', 'The amount was collected. Your investment is complete.'],
  failed: ['bad', 'Failed', 'Nothing was taken from your wallet. You can try again.'],
  remit_submitted: ['busy', 'Refunding', 'Your refund is on its way.'],
  remitted: ['neutral', 'Refunded', 'The amount is back in your wallet.'],
  remit_failed: [
    'attention',
    'Refund delayed',
    'Your refund did not go through yet. It will be tried again.',
  ],
};

/** Whether a participation can still change by itself. */
export function isMoving(status: Participation['status']): boolean {
  return ['prepared', 'pending', 'submitted', 'remit_submitted'].includes(status);
}
