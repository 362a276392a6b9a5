import type { StatusWord } from '../../requirements.ts';
import type { Offer, Participation, Requirement } from '../../wire.ts';
import type { Tone } from './elements.tsx';

export const OFFER_TYPE_LABELS: Record<Offer['type'], string> = {
  'platform::token_sale': 'Token sale',
  'fund::swap': 'Fund',
  'tokenized::swap': 'Tokenized asset',
};

export const OFFER_STATE_LABELS: Record<'upcoming' | 'open' | 'ended', readonly [Tone, label: string]> = {
  upcoming: ['attention', 'Opens soon'],
  open: ['good', 'Open'],
  ended: ['neutral', 'Ended'],
};

export const MILESTONE_LABELS: Record<'completed' | 'active' | 'upcoming', readonly [Tone, label: string]> = {
  completed: ['good', 'Completed'],
  active: ['busy', 'In progress'],
  upcoming: ['neutral', 'Planned'],
};

export const REQUIREMENT_LABELS: Record<Requirement['type'], readonly [name: string, reason: string]> = {
  identity_verification: ['Confirm who you are', 'The law requires us to know our investors.'],
  kyc_approved: ['Verify your identity', "You'll need your passport or ID card, and a selfie."],
  accreditation: [
    "Confirm that you're an accredited investor",
    'This offer is open to accredited investors only.',
  ],
  external_wallet: ['Connect your wallet', 'Proves that you own the wallet you invest from.'],
  whitelisted_wallet: ['Register a wallet for this offer', 'Only registered wallets can invest.'],
  document: ['Sign your tax form', 'Certifies where you pay tax (form W-8BEN or W-8BEN-E).'],
  jurisdiction: ['Country of residence', 'Local rules decide who can invest.'],
};

export const STATUS_LABELS: Record<StatusWord, readonly [Tone, label: string]> = {
  not_started: ['neutral', 'To do'],
  in_progress: ['busy', 'In progress'],
  action_needed: ['attention', 'Action needed'],
  completed: ['good', 'Done'],
  rejected: ['bad', 'Not accepted'],
};

type ParticipationLabel = readonly [Tone, label: string, explanation: string];
export const PARTICIPATION_LABELS: Record<Participation['status'], ParticipationLabel> = {
  prepared: ['busy', 'Confirming approval', 'Waiting for the network to confirm your approval.'],
  pending: ['busy', 'Accepted', "Your approval is confirmed. We'll collect the payment shortly."],
  submitted: ['busy', 'Collecting', "We're collecting the payment from your wallet."],
  completed: ['good', 'Completed', 'Payment collected. Your investment is complete.'],
  failed: ['bad', 'Failed', 'Nothing was taken from your wallet. You can try again.'],
  remit_submitted: ['busy', 'Refunding', 'Your refund is on its way.'],
  remitted: ['neutral', 'Refunded', 'The money is back in your wallet.'],
  remit_failed: [
    'attention',
    'Refund delayed',
    "Your refund hasn't gone through yet. We'll try again automatically.",
  ],
};

/** Returns whether a participation can still change without the user doing anything. */
export function isInProgress(status: Participation['status']): boolean {
  return ['prepared', 'pending', 'submitted', 'remit_submitted'].includes(status);
}
