import type { Causeway } from '../client.ts';
import type { Participation } from '../wire.ts';
import type { FlowOptions } from './flow.ts';
import type { SolanaSaleInput, SolanaSalePhase } from './solana-purchase.ts';

/**
 * Buys into a token sale on Solana. Approves exactly the amount for the offer's fund account and records the
 * participation, which the service then settles. To resume an interrupted purchase, pass `approvalHash`, as with
 * `buyTokenSale`. Always pass `rpcUrls` for the chain, because Solana wallets do not read the chain.
 *
 * @example
 * ```ts no-run
 * import { createCauseway, parseAmount } from '@causeway/sdk';
 * import { buyTokenSaleOnSolana, type SolanaWallet } from '@causeway/sdk/flows';
 *
 * export async function invest(causeway: ReturnType<typeof createCauseway>, wallet: SolanaWallet) {
 *   const offer = await causeway.offers.get('harbour-quarter');
 *   const option = offer.options.find(({ slug }) => slug === 'public');
 *   const participation = await buyTokenSaleOnSolana(
 *     causeway,
 *     {
 *       offer,
 *       optionId: option?.id ?? '',
 *       chain: 'solana_devnet',
 *       wallet,
 *       assetId: 'usd-coin',
 *       amount: parseAmount('25', 6) ?? '0',
 *       onApproved: (hash) => console.log('resume with', hash),
 *     },
 *     { rpcUrls: { solana_devnet: ['https://api.devnet.solana.com'] } },
 *   );
 *   console.log(participation.status);
 * }
 * ```
 */
export async function buyTokenSaleOnSolana(
  causeway: Causeway,
  input: SolanaSaleInput,
  options: FlowOptions<SolanaSalePhase> = {},
): Promise<Participation> {
  // Imported on demand, so that apps without Solana never load this module.
  const { runSolanaSale } = await import('./solana-purchase.ts');
  return runSolanaSale(causeway, input, options);
}
