import type { Hex } from 'viem';
import type { Causeway } from '../client.ts';
import type { Participation } from '../wire.ts';
import type { Allowance } from './approval.ts';
import type { Enter, FlowOptions } from './flow.ts';
import { runTokenSale, type TokenSaleInput, type TokenSalePhase } from './sale-purchase.ts';
import type { Session } from './session.ts';
import { sendTransaction } from './transaction.ts';

/**
 * Buys into a token sale: approves exactly the amount for the offer's fund contract and records the participation,
 * which the service settles. If the purchase is interrupted after `onApproved`, resume it with `approvalHash`. Resuming
 * several times, even concurrently, creates only one participation.
 *
 * @example
 * ```ts
 * import { createCauseway, parseAmount } from '@causeway/sdk';
 * import { buyTokenSale, type EvmWallet } from '@causeway/sdk/flows';
 *
 * export async function invest(causeway: ReturnType<typeof createCauseway>, wallet: EvmWallet) {
 *   const offer = await causeway.offers.get('harbour-quarter');
 *   const option = offer.options.find(({ slug }) => slug === 'public');
 *   const participation = await buyTokenSale(causeway, {
 *     offer,
 *     optionId: option?.id ?? '',
 *     chain: 'ethereum_sepolia',
 *     wallet,
 *     assetId: 'usd-coin',
 *     amount: parseAmount('25', 6) ?? '0',
 *     onApproved: (hash) => console.log('resume with', hash),
 *   });
 *   console.log(participation.status);
 * }
 * ```
 */
export async function buyTokenSale(
  causeway: Causeway,
  input: TokenSaleInput,
  options: FlowOptions<TokenSalePhase> = {},
): Promise<Participation> {
  return runTokenSale(causeway, input, options, input.approval === 'permit' ? approveByPermit : undefined);
}

async function approveByPermit(
  session: Session,
  enter: Enter<TokenSalePhase>,
  wanted: Allowance,
): Promise<Hex> {
  const { readPermitTerms, signPermit } = await import('./permit.ts');
  const terms = await readPermitTerms(session, wanted);
  enter('signing_permit');
  const call = await signPermit(session, wanted, terms);
  enter('approving');
  return sendTransaction(session, call);
}
