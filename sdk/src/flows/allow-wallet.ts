import type { Causeway } from '../client.ts';
import type { EvmChain } from '../wire.ts';
import type { FlowOptions } from './flow.ts';
import type { EvmWallet } from './wallet.ts';

export type AllowWalletPhase =
  | 'connecting'
  | 'checking'
  | 'challenging'
  | 'signing'
  | 'allowing'
  | 'broadcasting'
  | 'confirming';

export type AllowWalletInput = { offerId: string; chain: EvmChain; wallet: EvmWallet };

/** `transactionHash` is null when the wallet was allowed already, or the offer keeps no list. */
export type WalletIsAllowed = { allowed: true; transactionHash: `0x${string}` | null };

export async function allowWallet(
  causeway: Causeway,
  input: AllowWalletInput,
  options: FlowOptions<AllowWalletPhase> = {},
): Promise<WalletIsAllowed> {
  throw new Error(`not yet: ${String([causeway, input, options])}`);
}
