import type { Hex } from 'viem';
import { decodeFunctionData } from 'viem/utils';
import type { Causeway } from '../client.ts';
import { isCausewayError } from '../error.ts';
import type { AllowWalletTransaction, EvmChain, OfferContract } from '../wire.ts';
import { allowListAbi } from './abi.ts';
import { MAX_NODE_LAG_MS } from './approval.ts';
import { FlowFailure, type FlowOptions, runFlow } from './flow.ts';
import { findContract, lower } from './offer-contract.ts';
import { requestChallenge, signEvmMessage } from './proof.ts';
import { waitForReceipt } from './receipt.ts';
import { connectWallet, openSession, type Session } from './session.ts';
import { movesNoTokens } from './token-calls.ts';
import { type Call, sendTransaction, simulate } from './transaction.ts';
import { assertTrusted, includesAddress } from './trusted.ts';
import { waitForChange } from './wait-for-change.ts';
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

/** `transactionHash` is null if the wallet was already allowed, or if the offer has no allow-list. */
export type AllowWalletResult = { allowed: true; transactionHash: Hex | null };

/**
 * Adds a wallet to a swap offer's allow-list. The owner signs a proof of ownership, and the wallet then sends the
 * transaction that adds it to the list.
 *
 * @example
 * ```ts
 * import { createCauseway } from '@causeway/sdk';
 * import { allowWallet, type EvmWallet } from '@causeway/sdk/flows';
 *
 * export async function allow(causeway: ReturnType<typeof createCauseway>, wallet: EvmWallet) {
 *   const offer = await causeway.offers.get('treasury-fund');
 *   const { transactionHash } = await allowWallet(causeway, { offerId: offer.id, chain: 'ethereum_sepolia', wallet });
 *   console.log(transactionHash ?? 'already allowed');
 * }
 * ```
 */
export async function allowWallet(
  causeway: Causeway,
  input: AllowWalletInput,
  options: FlowOptions<AllowWalletPhase> = {},
): Promise<AllowWalletResult> {
  return runFlow(options, 'connecting', async ({ enter, reportTransaction }) => {
    const { offerId, chain } = input;
    const { signal } = options;
    const session = openSession(causeway, input, options, reportTransaction);
    await connectWallet(session);
    enter('checking');
    const offer = await causeway.offers.get(offerId, { signal });
    if (offer.type === 'platform::token_sale')
      throw new FlowFailure('offer_type_mismatch', `${offer.name} is a token sale, which has no allow-list.`);
    const contract = findContract(offer, offer.type, chain);
    const swap = lower(contract.address);
    assertTrusted(options.trusted, chain, { address: swap });
    const before = await readAuthorized(session, swap);
    if (before === true) return { allowed: true, transactionHash: null };
    enter('challenging');
    const message = await requestChallenge(causeway, session, signal);
    enter('signing');
    const signature = await signEvmMessage(session, message);
    enter('allowing');
    const proof = { chain, signature, wallet_address: session.address };
    const reply = await causeway.wallets.allow(offerId, proof, { signal });
    if (!('to' in reply)) return { allowed: true, transactionHash: null };
    const call = checkPermission(reply as AllowWalletTransaction, session, contract);
    await simulate(session, call);
    enter('broadcasting');
    const sent = await sendTransaction(session, call);
    enter('confirming');
    const { transactionHash } = await waitForReceipt(session, sent);
    if (before === false) await waitUntilAllowed(session, swap, transactionHash);
    return { allowed: true, transactionHash };
  });
}

/** Returns null if the contract does not expose its allow-list, or if the access token lacks `swaps:read`. */
async function readAuthorized(
  { causeway, address, chain, signal }: Session,
  swap: Hex,
): Promise<boolean | null> {
  const query = { contract_address: swap, wallet_address: address, chain };
  try {
    return (await causeway.swap.authorized(query, { signal })).authorized;
  } catch (error) {
    if (isCausewayError(error) && (error.status === 422 || error.code === 'insufficient_scope')) return null;
    throw error;
  }
}

async function waitUntilAllowed(session: Session, swap: Hex, transactionHash: Hex): Promise<void> {
  const change = { events: 'wallet', timeoutMs: MAX_NODE_LAG_MS };
  if (await waitForChange(session, change, async () => (await readAuthorized(session, swap)) !== false))
    return;
  throw new FlowFailure(
    'outcome_unknown',
    'The transaction was mined, but the wallet is not on the allow-list yet.',
    { transactionHash },
  );
}

/**
 * Makes sure that the call cannot move money. Throws `calldata_refused` unless the call is one of these:
 * - A call that adds this wallet to the allow-list that the offer publishes.
 * - A call to a supplier contract that the host trusts, if the call moves no tokens.
 */
function checkPermission(
  { to, data }: AllowWalletTransaction,
  { address, chain, trusted }: Session,
  { allow_list_address }: OfferContract,
): Call {
  const call = { to: lower(to), data: data as Hex };
  const isPublished = allow_list_address !== null && lower(allow_list_address) === call.to;
  const isSupplier = includesAddress(trusted?.[chain]?.suppliers ?? [], call.to);
  const isSafe = (isPublished && allows(call.data, address)) || (isSupplier && movesNoTokens(data));
  if (!isSafe)
    throw new FlowFailure(
      'calldata_refused',
      'The transaction does not add this wallet to the allow-list, so it was not sent.',
      { details: { to, data } },
    );
  return call;
}

function allows(data: Hex, wallet: Hex): boolean {
  try {
    return lower(decodeFunctionData({ abi: allowListAbi, data }).args[0]) === wallet;
  } catch {
    return false;
  }
}
