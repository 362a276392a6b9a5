import type { AllowWalletPhase } from '../../flows/allow-wallet.ts';
import type { BindWalletPhase } from '../../flows/bind-wallet.ts';
import type { FundSwapPhase } from '../../flows/fund-swap.ts';
import type { TokenSalePhase } from '../../flows/token-sale.ts';
import type { TokenizedPhase } from '../../flows/tokenized-purchase.ts';

export const BIND_PHASES: Record<BindWalletPhase, string> = {
  connecting: 'Looking for your wallet…',
  challenging: 'Preparing a text for you to sign…',
  signing: 'Sign the text in your wallet. It costs nothing.',
  binding: 'Registering your wallet…',
};

export const ALLOW_PHASES: Record<AllowWalletPhase, string> = {
  connecting: 'Switching your wallet to the right network…',
  checking: 'Looking whether your wallet is allowed already…',
  challenging: 'Preparing a text for you to sign…',
  signing: 'Sign the text in your wallet. It costs nothing.',
  allowing: 'Asking for the permission…',
  broadcasting: 'Confirm the transaction in your wallet. It costs a network fee.',
  confirming: 'Waiting for the network to confirm…',
};

/** What the user sees of a flow: a few steps, each for some of its phases. */
export type Step<Phase extends string> = { name: string; phases: Partial<Record<Phase, string>> };

const APPROVAL = {
  resetting_allowance: 'This token needs an earlier approval to be cleared first. Confirm it in your wallet.',
  approving: 'Confirm the approval in your wallet. It costs a network fee.',
  confirming_approval: 'Waiting for the network to confirm your approval…',
} as const;

export const TOKEN_SALE_STEPS: readonly Step<TokenSalePhase>[] = [
  {
    name: 'Check',
    phases: {
      connecting: 'Switching your wallet to the right network…',
      checking: 'Checking your balance…',
      waiting_for_earlier: 'Waiting for an earlier purchase of yours to be settled…',
    },
  },
  { name: 'Approve', phases: { ...APPROVAL, signing_permit: 'Sign the permit in your wallet.' } },
  { name: 'Invest', phases: { creating: 'Recording your investment…' } },
];

export const FUND_SWAP_STEPS: readonly Step<FundSwapPhase>[] = [
  {
    name: 'Check',
    phases: {
      connecting: 'Switching your wallet to the right network…',
      checking: 'Checking the fund and your balance…',
    },
  },
  { name: 'Approve', phases: APPROVAL },
  {
    name: 'Swap',
    phases: {
      previewing: 'Looking at the price once more…',
      swapping: 'Confirm the swap in your wallet. It costs a network fee.',
      confirming: 'Waiting for the network to confirm the swap…',
    },
  },
];

export const TOKENIZED_STEPS: readonly Step<TokenizedPhase>[] = [
  {
    name: 'Check',
    phases: {
      connecting: 'Switching your wallet to the right network…',
      checking: 'Checking the market and your balance…',
    },
  },
  { name: 'Approve', phases: APPROVAL },
  {
    name: 'Order',
    phases: {
      ordering: 'Asking the market for a firm price…',
      verifying: 'Checking that the order is exactly what you asked for…',
    },
  },
  {
    name: 'Buy',
    phases: {
      broadcasting: 'Confirm the purchase in your wallet, before the price expires.',
      confirming: 'Waiting for the network to confirm the purchase…',
    },
  },
];
