import type { RequirementState } from '../../requirements.ts';
import type { Offer, Participation, Requirement } from '../../wire.ts';

/**
 * The color of a badge or notice. The text must convey the same meaning, because not every reader can tell colors
 * apart.
 */
export type Tone = 'neutral' | 'busy' | 'good' | 'attention' | 'bad';
type Label = readonly [Tone, label: string];

export const OFFER_TYPE_LABELS = {
  'platform::token_sale': 'Token sale',
  'fund::swap': 'Fund',
  'tokenized::swap': 'Tokenized asset',
} as const satisfies Record<Offer['type'], string>;

export const OFFER_STATE_LABELS = {
  upcoming: ['attention', 'Opens soon'],
  open: ['good', 'Open'],
  ended: ['neutral', 'Ended'],
} as const satisfies Record<'upcoming' | 'open' | 'ended', Label>;

export const MILESTONE_LABELS = {
  completed: ['good', 'Completed'],
  active: ['busy', 'In progress'],
  upcoming: ['neutral', 'Planned'],
} as const satisfies Record<'completed' | 'active' | 'upcoming', Label>;

export const REQUIREMENT_LABELS = {
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
  acknowledgement: ['Read the document', 'Read it before you invest.'],
} as const satisfies Record<Requirement['type'], readonly [name: string, reason: string]>;

export const WALLET_STEP_NAMES = {
  ethereum: 'Connect your Ethereum wallet',
  solana: 'Connect your Solana wallet',
} as const;

type Group = { name: string; types: readonly Requirement['type'][] };

/** The checklist's groups, in display order. */
export const REQUIREMENT_GROUPS = [
  { name: 'About you', types: ['identity_verification', 'kyc_approved', 'jurisdiction'] },
  { name: 'Accreditation', types: ['accreditation'] },
  { name: 'Wallet', types: ['external_wallet', 'whitelisted_wallet'] },
  { name: 'Tax', types: ['document'] },
  { name: 'Documents', types: ['acknowledgement'] },
] as const satisfies readonly Group[];

/** Roughly how long each step takes a user; 0 if the step is completed as part of another. */
export const STEP_SECONDS: Readonly<Record<Requirement['type'], number>> = {
  identity_verification: 60,
  kyc_approved: 60,
  accreditation: 60,
  external_wallet: 20,
  whitelisted_wallet: 0,
  document: 40,
  jurisdiction: 0,
  acknowledgement: 30,
};

export const STATUS_LABELS = {
  not_started: ['neutral', 'To do'],
  in_progress: ['busy', 'In progress'],
  action_needed: ['attention', 'Action needed'],
  completed: ['good', 'Done'],
  rejected: ['bad', 'Not accepted'],
} as const satisfies Record<RequirementState, Label>;

export const PARTICIPATION_LABELS = {
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
} as const satisfies Record<Participation['status'], readonly [...Label, explanation: string]>;

/** Every message in the tables above. */
export type LabelMessage =
  | (typeof OFFER_TYPE_LABELS)[keyof typeof OFFER_TYPE_LABELS]
  | (typeof OFFER_STATE_LABELS)[keyof typeof OFFER_STATE_LABELS][1]
  | (typeof MILESTONE_LABELS)[keyof typeof MILESTONE_LABELS][1]
  | (typeof REQUIREMENT_LABELS)[keyof typeof REQUIREMENT_LABELS][0 | 1]
  | (typeof WALLET_STEP_NAMES)[keyof typeof WALLET_STEP_NAMES]
  | (typeof REQUIREMENT_GROUPS)[number]['name']
  | (typeof STATUS_LABELS)[keyof typeof STATUS_LABELS][1]
  | (typeof PARTICIPATION_LABELS)[keyof typeof PARTICIPATION_LABELS][1 | 2];

/** Returns whether a participation is expected to change soon without user action. */
export function isInProgress(status: Participation['status']): boolean {
  return ['prepared', 'pending', 'submitted', 'remit_submitted'].includes(status);
}
