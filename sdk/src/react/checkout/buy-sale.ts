import { isEvmChain, type SolanaChain } from '../../chains.ts';
import type { Causeway } from '../../client.ts';
import type { FlowOptions } from '../../flows/flow.ts';
import type { TokenSalePhase } from '../../flows/token-sale.ts';
import type { Wallet } from '../../flows/wallet.ts';
import type { OfferDetails, Participation } from '../../wire.ts';
import type { Flows } from '../hooks/use-flow.ts';
import type { UnfinishedSale } from './unfinished-sale.ts';

type Sale = {
  offer: OfferDetails;
  purchase: UnfinishedSale;
  wallet: Wallet;
  onApproved(hash: string): void;
};

/** Runs the flow for the wallet's protocol. */
export function buySale(
  flows: Flows,
  causeway: Causeway,
  { offer, purchase, wallet, onApproved }: Sale,
  options: FlowOptions<TokenSalePhase>,
): Promise<Participation> {
  const { optionId, chain, assetId, amount } = purchase;
  const approvalHash = purchase.approvalHash ?? undefined;
  const input = { offer, optionId, assetId, amount, onApproved };
  if (wallet.protocol === 'solana')
    return flows.buyTokenSaleOnSolana(
      causeway,
      { ...input, wallet, chain: chain as SolanaChain, approvalHash },
      options,
    );
  if (!isEvmChain(chain)) throw new Error(`Connect a Solana wallet to invest on ${chain}.`);
  const hash = approvalHash as `0x${string}` | undefined;
  return flows.buyTokenSale(causeway, { ...input, wallet, chain, approvalHash: hash }, options);
}
