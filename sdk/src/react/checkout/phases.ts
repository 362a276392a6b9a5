import type { FundSwapPhase } from '../../flows/fund-swap.ts';
import type { TokenSalePhase } from '../../flows/sale-purchase.ts';
import type { TokenizedPhase } from '../../flows/tokenized-purchase.ts';
import type { Message } from '../ui/messages.ts';

/** A step shown to the user; it covers one or more phases of a flow. */
export type Step<Phase extends string> = { name: Message; phases: Partial<Record<Phase, Message>> };

const SWITCHING_NETWORK = 'Switching your wallet to the right network…';

const PROVING = 'Sign the message in your wallet to show that it is yours. This is free.';

const APPROVAL = {
  resetting_allowance: 'This token requires clearing an earlier approval first. Confirm it in your wallet.',
  approving: 'Confirm the approval in your wallet. A network fee applies.',
  confirming_approval: 'Waiting for the network to confirm your approval…',
} as const;

export const TOKEN_SALE_STEPS: readonly Step<TokenSalePhase>[] = [
  {
    name: 'Check',
    phases: {
      connecting: SWITCHING_NETWORK,
      checking: 'Checking your balance…',
      waiting_for_earlier: 'Waiting for your earlier purchase to settle…',
      proving: PROVING,
    },
  },
  { name: 'Approve', phases: { ...APPROVAL, signing_permit: 'Sign the permit in your wallet.' } },
  { name: 'Invest', phases: { creating: 'Recording your investment…' } },
];

export const FUND_SWAP_STEPS: readonly Step<FundSwapPhase>[] = [
  {
    name: 'Check',
    phases: { connecting: SWITCHING_NETWORK, checking: 'Checking the fund and your balance…' },
  },
  { name: 'Approve', phases: APPROVAL },
  {
    name: 'Swap',
    phases: {
      previewing: 'Checking the latest price…',
      swapping: 'Confirm the swap in your wallet. A network fee applies.',
      confirming: 'Waiting for the network to confirm the swap…',
    },
  },
];

export const TOKENIZED_STEPS: readonly Step<TokenizedPhase>[] = [
  {
    name: 'Check',
    phases: {
      connecting: SWITCHING_NETWORK,
      checking: 'Checking the market and your balance…',
      proving: PROVING,
    },
  },
  { name: 'Approve', phases: APPROVAL },
  {
    name: 'Order',
    phases: {
      ordering: 'Getting a firm price…',
      verifying: 'Checking that the order matches your request…',
    },
  },
  {
    name: 'Buy',
    phases: {
      broadcasting: 'Confirm the purchase in your wallet before the price expires.',
      confirming: 'Waiting for the network to confirm the purchase…',
    },
  },
];
