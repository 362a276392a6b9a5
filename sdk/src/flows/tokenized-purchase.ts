import type { Causeway } from '../client.ts';
import type { EvmChain, OfferDetails, TokenizedSwapTransaction } from '../wire.ts';
import { assertBalance, ensureAllowance } from './approval.ts';
import { type FlowOptions, runFlow, Stop } from './flow.ts';
import { readAmount } from './money.ts';
import { findContract, findPlace, type Place } from './offer-contract.ts';
import { readSwap, type SwapResult } from './outcome.ts';
import { waitForReceipt } from './receipt.ts';
import { describeRevert } from './revert.ts';
import { connectWallet, openSession, type Session } from './session.ts';
import { assertInTime, assertOrdered, assertTradable, expired } from './tokenized-checks.ts';
import { type Call, sendTransaction, simulate } from './transaction.ts';
import type { EvmWallet } from './wallet.ts';

type Hex = `0x${string}`;

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
   * until it expires; a new one while an order is live is `order_outstanding`. A refusal of the service stands for its
   * confirmation: take a new one to try again.
   */
  confirmationId?: string | undefined;
  /** Whether the calldata is verified against the wallet's node before it is sent; true unless told. */
  verify?: boolean | undefined;
};

/**
 * Buys a tokenized asset: approves exactly the amount, orders once, verifies what came back and has the wallet send it.
 *
 * @example
 * ```ts
 * import { createCauseway } from '@causeway/sdk';
 * import { buyTokenized, type EvmWallet } from '@causeway/sdk/flows';
 *
 * export async function buy(causeway: ReturnType<typeof createCauseway>, wallet: EvmWallet) {
 *   const offer = await causeway.offers.get('apple-tokenized');
 *   const order = { assetId: 'usd-coin', amount: 100_500_000n, confirmationId: crypto.randomUUID() };
 *   const { received } = await buyTokenized(causeway, { offer, chain: 'ethereum_sepolia', wallet, ...order });
 *   console.log(received);
 * }
 * ```
 */
export async function buyTokenized(
  causeway: Causeway,
  input: TokenizedInput,
  options: FlowOptions<TokenizedPhase> = {},
): Promise<SwapResult> {
  return runFlow(options, 'connecting', async ({ enter, tell }) => {
    const { offer, verify = true, confirmationId = crypto.randomUUID() } = input;
    const place = findFirstPlace(input);
    const symbol = input.symbol ?? offer.asset.code;
    const amount = readAmount(input.amount);
    const least = input.minReceive === undefined ? 1n : readAmount(input.minReceive, 'minReceive');
    const session = openSession(causeway, input, options, tell);
    await connectWallet(session);
    enter('checking');
    const wanted = { token: place.token.address, spender: place.address, amount };
    await assertTradable(session, symbol, place, amount);
    await assertBalance(session, wanted);
    await ensureAllowance(session, enter, wanted);
    enter('ordering');
    const body = { amount: String(amount), chain: session.chain, symbol, wallet_address: session.address };
    // Once for this confirmation: the client repeats it under the same key when an answer is lost.
    const order = await causeway.tokenized.transaction(body, {
      signal: options.signal,
      idempotencyKey: confirmationId,
    });
    const arrivedAt = Date.now();
    enter('verifying');
    if (verify) await assertOrdered(session, place, order, amount);
    assertReceives(order, least);
    const call = { to: order.to as Hex, data: order.data as Hex };
    await tryOut(session, call, order);
    await assertInTime(session, order, arrivedAt);
    enter('broadcasting');
    const sent = await sendInTime(session, call, order);
    enter('confirming');
    return readSwap(await waitForReceipt(session, sent), session.address, place);
  });
}

/** The order names no funding token: the contract's first one is paid with. */
function findFirstPlace({ offer, chain, assetId }: TokenizedInput): Place {
  const place = findPlace(offer, 'tokenized::swap', chain, assetId);
  const first = findContract(offer, 'tokenized::swap', chain).funding_tokens[0]?.asset_id;
  if (first === assetId) return place;
  throw new Stop('asset_not_accepted', `${offer.name} is paid with ${first}.`, {
    details: { accepted: [first] },
  });
}

function assertReceives({ receive_output_amount: receive }: TokenizedSwapTransaction, least: bigint): void {
  if (BigInt(receive) < least)
    throw new Stop('price_moved', 'The order gives less than was asked for; it was not sent.', {
      details: { receive, least: String(least) },
    });
}

/** An owner may think for longer than the price holds; the wallet then fails in words of its own. */
async function sendInTime(session: Session, call: Call, order: TokenizedSwapTransaction): Promise<Hex> {
  try {
    return await sendTransaction(session, call);
  } catch (error) {
    if (describeRevert(error) === 'AttestationExpired') throw expired(order);
    throw error;
  }
}

async function tryOut(session: Session, call: Call, order: TokenizedSwapTransaction): Promise<void> {
  await simulate(session, call).catch((error: unknown) => {
    if (error instanceof Stop && error.more.details?.reason === 'AttestationExpired') throw expired(order);
    throw error;
  });
}
