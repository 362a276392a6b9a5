import type { Causeway } from '../client.ts';
import type { EvmChain, OfferDetails } from '../wire.ts';
import type { FlowOptions } from './flow.ts';
import type { SwapResult } from './fund-swap.ts';
import type { EvmWallet } from './wallet.ts';

export type TokenizedPhase =
  | 'connecting'
  | 'checking'
  | 'resetting_allowance'
  | 'approving'
  | 'confirming_approval'
  | 'ordering'
  | 'verifying'
  | 'broadcasting'
  | 'confirming';

export type TokenizedInput = {
  offer: OfferDetails;
  chain: EvmChain;
  wallet: EvmWallet;
  /** The funding asset to pay with; a tokenized offer takes the first of its contract's `funding_tokens`. */
  assetId: string;
  /** Smallest units, fee included: what is paid. */
  amount: string | bigint;
  /** The venue's symbol; the code of the offer's asset unless told. */
  symbol?: string | undefined;
  /** Smallest units of the asset; an order that gives less is not sent (`price_moved`). */
  minReceive?: string | bigint | undefined;
  /**
   * One per confirmation of the user. The same one gives the same order again, after a crash or a rejected signature,
   * until it expires; a new one while an order is live is `order_outstanding`.
   */
  confirmationId?: string | undefined;
  /** Whether the calldata is verified against the wallet's node before it is sent; true unless told. */
  verify?: boolean | undefined;
};

export async function buyTokenized(
  causeway: Causeway,
  input: TokenizedInput,
  options: FlowOptions<TokenizedPhase> = {},
): Promise<SwapResult> {
  throw new Error(`not yet: ${String([causeway, input, options])}`);
}
