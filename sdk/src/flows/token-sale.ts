import type { Causeway } from '../client.ts';
import type { EvmChain, OfferDetails, Participation } from '../wire.ts';
import type { FlowOptions } from './flow.ts';
import type { EvmWallet } from './wallet.ts';

export type TokenSalePhase =
  | 'connecting'
  | 'checking'
  | 'waiting_for_earlier'
  | 'resetting_allowance'
  | 'signing_permit'
  | 'approving'
  | 'confirming_approval'
  | 'creating';

export type TokenSaleInput = {
  offer: OfferDetails;
  optionId: string;
  chain: EvmChain;
  wallet: EvmWallet;
  /** One of the offer's `funding_assets`. */
  assetId: string;
  /** Smallest units. */
  amount: string | bigint;
  /** `permit` signs an EIP-2612 permit, which the wallet then sends: the service wants the approval on chain. */
  approval?: 'approve' | 'permit' | undefined;
  /** Of an approval that was sent before: the flow goes on from there. */
  approvalHash?: `0x${string}` | undefined;
  /** Keep this hash: with it the purchase can be resumed. Told again when the transaction was sped up. */
  onApproved?: ((hash: `0x${string}`) => void) | undefined;
};

export async function buyTokenSale(
  causeway: Causeway,
  input: TokenSaleInput,
  options: FlowOptions<TokenSalePhase> = {},
): Promise<Participation> {
  throw new Error(`not yet: ${String([causeway, input, options])}`);
}
