import type { Causeway } from '../client.ts';
import type { EvmChain, OfferDetails } from '../wire.ts';
import type { FlowOptions } from './flow.ts';
import type { EvmWallet } from './wallet.ts';

export type FundSwapPhase =
  | 'connecting'
  | 'checking'
  | 'resetting_allowance'
  | 'approving'
  | 'confirming_approval'
  | 'previewing'
  | 'swapping'
  | 'confirming';

export type FundSwapInput = {
  offer: OfferDetails;
  chain: EvmChain;
  wallet: EvmWallet;
  /** One of the offer's `funding_assets`. */
  assetId: string;
  /** Smallest units, fee included: the most that is paid. */
  amount: string | bigint;
  /** How much less than the preview may be received, in hundredths of a percent: 50 is 0.5 %. */
  slippageBps: number;
  /** Whether to go on when the fund can take only a part of the amount; otherwise that is `supply_short`. */
  allowPartial?: boolean | undefined;
};

/** Smallest units; `paid` includes `fee`. */
export type SwapResult = {
  transactionHash: `0x${string}`;
  /** What the wallet was given, by the events of the transaction. */
  received: bigint;
  paid: bigint;
  fee: bigint;
};

export async function swapFund(
  causeway: Causeway,
  input: FundSwapInput,
  options: FlowOptions<FundSwapPhase> = {},
): Promise<SwapResult> {
  throw new Error(`not yet: ${String([causeway, input, options])}`);
}
