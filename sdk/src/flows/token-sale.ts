import { keccak256, stringToHex } from 'viem/utils';
import type { Causeway } from '../client.ts';
import { isCausewayError } from '../error.ts';
import type { NewParticipation } from '../participations.ts';
import type { EvmChain, OfferDetails, Participation } from '../wire.ts';
import { type Allowance, assertApproved, assertBalance, sendApproval } from './approval.ts';
import { type Enter, type FlowOptions, runFlow, Stop } from './flow.ts';
import { readAmount } from './money.ts';
import { findPlace } from './offer-contract.ts';
import { readPermitTerms, signPermit } from './permit.ts';
import { waitForReceipt } from './receipt.ts';
import { assertEligible, waitForEarlier } from './sale-checks.ts';
import { connectWallet, openSession, type Session } from './session.ts';
import { sendTransaction } from './transaction.ts';
import type { EvmWallet } from './wallet.ts';

type Hex = `0x${string}`;

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
  approvalHash?: Hex | undefined;
  /** Keep this hash: with it the purchase can be resumed. Told again when the transaction was sped up. */
  onApproved?: ((hash: Hex) => void) | undefined;
};

/**
 * Buys into a token sale: approves exactly the amount for the offer's fund and records the participation, which the
 * service settles. Interrupted after `onApproved`, it goes on with `approvalHash`, as often as you like, at once from
 * several places too: one approval is one participation.
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
 *     onApproved: (hash) => console.log('to resume with', hash),
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
  return runFlow(options, 'connecting', async ({ enter, tell }) => {
    const { offer, chain, assetId, approvalHash, onApproved } = input;
    const place = findPlace(offer, 'platform::token_sale', chain, assetId);
    const wanted = { token: place.token.address, spender: place.address, amount: readAmount(input.amount) };
    if (approvalHash !== undefined && !/^0x[0-9a-f]{64}$/i.test(approvalHash))
      throw new Stop('invalid_input', 'approvalHash is not the hash of a transaction.');
    const session = openSession(causeway, input, options, tell);
    await connectWallet(session);
    let hash = approvalHash?.toLowerCase() as Hex | undefined;
    if (hash === undefined) {
      enter('checking');
      await assertEligible(session, offer, input.optionId, place, wanted.amount);
      await assertBalance(session, wanted);
      await waitForEarlier(session, { offerId: offer.id, assetId }, () => enter('waiting_for_earlier'));
      hash = await approve(session, enter, wanted, input.approval ?? 'approve');
      onApproved?.(hash);
    }
    enter('confirming_approval');
    const receipt = await waitForReceipt(session, hash, onApproved);
    assertApproved(receipt, session.address, wanted);
    enter('creating');
    return create(
      session,
      bodyOf(session, input, wanted.amount, receipt.transactionHash),
      approvalHash !== undefined,
    );
  });
}

async function approve(
  session: Session,
  enter: Enter<TokenSalePhase>,
  wanted: Allowance,
  how: 'approve' | 'permit',
): Promise<Hex> {
  if (how === 'approve') return sendApproval(session, enter, wanted);
  const terms = await readPermitTerms(session, wanted);
  enter('signing_permit');
  const call = await signPermit(session, wanted, terms);
  enter('approving');
  return sendTransaction(session, call);
}

function bodyOf(
  { address, chain }: Session,
  { offer, optionId, assetId }: TokenSaleInput,
  amount: bigint,
  hash: Hex,
): NewParticipation {
  return {
    offer_id: offer.id,
    offer_option_id: optionId,
    chain,
    wallet_address: address,
    amount: String(amount),
    asset_id: assetId,
    approval_transaction_hash: hash,
  };
}

/**
 * The key follows from the request, so that every resume carries the same one. The service keeps refusals under a key
 * too, and what it refused before may be in order by now (a requirement completed since): a resume that is refused asks
 * once more under a new key, which is safe because an approval counts once.
 */
async function create(
  { causeway, signal }: Session,
  body: NewParticipation,
  isResumed: boolean,
): Promise<Participation> {
  const idempotencyKey = `sale-${keccak256(stringToHex(JSON.stringify(Object.values(body)))).slice(2)}`;
  try {
    return await causeway.participations.create(body, { signal, idempotencyKey });
  } catch (error) {
    const isRefusal =
      isCausewayError(error) && error.status >= 400 && error.status < 500 && error.status !== 429;
    if (!isResumed || !isRefusal) throw error;
    return causeway.participations.create(body, { signal });
  }
}
