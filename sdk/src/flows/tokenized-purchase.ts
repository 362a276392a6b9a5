import type { Hex } from 'viem';
import type { Causeway } from '../client.ts';
import type { EvmChain, OfferDetails, TokenizedSwapTransaction } from '../wire.ts';
import { assertBalance, ensureAllowance } from './approval.ts';
import { ensureProven } from './ensure-proof.ts';
import { FlowFailure, type FlowOptions, runFlow } from './flow.ts';
import { parseSmallestUnits } from './money.ts';
import { type Deployment, findContract, findDeployment } from './offer-contract.ts';
import { readSwapResult, type SwapResult } from './outcome.ts';
import { waitForReceipt } from './receipt.ts';
import { describeRevert } from './revert.ts';
import { connectWallet, openSession, type Session } from './session.ts';
import { assertDescribed } from './token-checks.ts';
import {
  assertAsset,
  assertMatchesOrder,
  assertNotExpired,
  assertTradable,
  quoteExpired,
} from './tokenized-checks.ts';
import { assertFee, assertFeeLimit, readMaxFeeBps } from './tokenized-fee.ts';
import { assertLimitsSlippage, readMinimum } from './tokenized-minimum.ts';
import { type Call, sendTransaction, simulate } from './transaction.ts';
import { assertTrusted, assertTrustedAsset } from './trusted.ts';
import { loadVerifier } from './verify-calldata.ts';
import type { EvmWallet } from './wallet.ts';

export type TokenizedPhase =
  | 'connecting'
  | 'checking'
  | 'proving'
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
  /** The funding asset to pay with. Tokenized offers accept only the first of their contract's `funding_tokens`. */
  assetId: string;
  /** The amount to pay, in smallest units, including the fee. */
  amount: string | bigint;
  /** The asset's symbol at the venue that prices it. Default: the code of the offer's asset. */
  symbol?: string | undefined;
  /**
   * The minimum to receive, in smallest units of the asset. If the order is for less, the flow throws `price_moved` and
   * does not send it.
   */
  minReceive?: string | bigint | undefined;
  /** The maximum slippage from the quote, in basis points (50 is 0.50%). Required unless `minReceive` is set. */
  maxSlippageBps?: number | undefined;
  /**
   * The quote that `maxSlippageBps` is relative to: the number of tokens, in smallest units, for all of `amount`, with
   * no fee deducted. Default: the flow requests such a quote.
   */
  quoted?: string | bigint | undefined;
  /**
   * The maximum fee in basis points. If the order takes more, the flow throws `fee_changed` and does not send it.
   * Default: the fee of `offer`, which the flow requests if `offer` has no `summary`.
   */
  maxFeeBps?: number | undefined;
  /**
   * Identifies one confirmation by the user. To retry, for example after a crash or a rejected signature, pass the same
   * id: you get the same order until it expires. With a new id, the flow fails with `order_outstanding` until the first
   * order expires or is executed. If the service rejected the order, retry with a new id.
   */
  confirmationId?: string | undefined;
  /** Whether to verify the calldata against the order and the chain before the transaction is sent. Default: true. */
  verify?: boolean | undefined;
};

/**
 * Buys a tokenized asset: approves exactly the amount, places one order, verifies the order's calldata and has the
 * wallet send the transaction.
 *
 * @example
 * ```ts
 * import { createCauseway } from '@causeway/sdk';
 * import { buyTokenized, type EvmWallet } from '@causeway/sdk/flows';
 *
 * export async function buy(causeway: ReturnType<typeof createCauseway>, wallet: EvmWallet) {
 *   const offer = await causeway.offers.get('apple-tokenized');
 *   const order = { assetId: 'usd-coin', amount: 100_500_000n, maxSlippageBps: 50 };
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
  return runFlow(options, 'connecting', async ({ enter, reportTransaction }) => {
    const { offer, verify = true, confirmationId = crypto.randomUUID() } = input;
    const deployment = findFirstDeployment(input);
    const symbol = input.symbol ?? offer.asset.code;
    const amount = parseSmallestUnits(input.amount);
    assertTrusted(options.trusted, input.chain, deployment);
    assertTrustedAsset(options.trusted, input.chain, offer.asset.id, deployment.assetAddress);
    assertLimitsSlippage(input);
    assertFeeLimit(input);
    const session = openSession(causeway, input, options, reportTransaction);
    if (verify) await loadVerifier();
    await connectWallet(session);
    enter('checking');
    const wanted = { token: deployment.token.address, spender: deployment.address, amount };
    await assertDescribed(session, deployment.token);
    await assertTradable(session, symbol, deployment, amount);
    await assertAsset(session, offer, deployment, symbol);
    await assertBalance(session, wanted);
    const minimumOf = await readMinimum(session, symbol, deployment, input);
    const maxFeeBps = await readMaxFeeBps(session, input);
    const optionId = offer.options[0]?.id ?? '';
    await ensureProven(session, offer.id, optionId, () => enter('proving'));
    await ensureAllowance(session, enter, wanted);
    enter('ordering');
    const body = { amount: String(amount), chain: session.chain, symbol, wallet_address: session.address };
    // With this key, each confirmation creates at most one order: if a response is lost, the client retries with the
    // same key.
    const order = await causeway.tokenized.transaction(body, {
      signal: options.signal,
      idempotencyKey: confirmationId,
    });
    const arrivedAt = Date.now();
    enter('verifying');
    if (verify) await assertMatchesOrder(session, offer, deployment, order, amount);
    assertFee(order, amount, maxFeeBps);
    assertReceives(order, minimumOf(order));
    const call = { to: order.to as Hex, data: order.data as Hex };
    await simulateOrder(session, call, order);
    await assertNotExpired(session, order, arrivedAt);
    enter('broadcasting');
    const sent = await sendOrder(session, call, order);
    enter('confirming');
    return readSwapResult(await waitForReceipt(session, sent), session.address, deployment);
  });
}

/**
 * Throws unless `assetId` is the contract's first funding token, because the service uses that token for
 * every order.
 */
function findFirstDeployment({ offer, chain, assetId }: TokenizedInput): Deployment {
  const deployment = findDeployment(offer, 'tokenized::swap', chain, assetId);
  const first = findContract(offer, 'tokenized::swap', chain).funding_tokens[0]?.asset_id;
  if (first === assetId) return deployment;
  throw new FlowFailure('asset_not_accepted', `${offer.name} accepts only ${first} on ${chain}.`, {
    details: { accepted: [first] },
  });
}

function assertReceives({ receive_output_amount: receive }: TokenizedSwapTransaction, minimum: bigint): void {
  if (BigInt(receive) < minimum)
    throw new FlowFailure(
      'price_moved',
      'The price moved: the order is for less than the minimum, so it was not sent.',
      { details: { receive, least: String(minimum) } },
    );
}

/**
 * Has the wallet send the order. Throws `quote_expired` if the order expired while the owner was deciding, because the
 * wallet itself would report only a revert.
 */
async function sendOrder(session: Session, call: Call, order: TokenizedSwapTransaction): Promise<Hex> {
  try {
    return await sendTransaction(session, call);
  } catch (error) {
    if ((await describeRevert(error)) === 'AttestationExpired') throw quoteExpired(order);
    throw error;
  }
}

async function simulateOrder(session: Session, call: Call, order: TokenizedSwapTransaction): Promise<void> {
  await simulate(session, call).catch((error: unknown) => {
    const reason = error instanceof FlowFailure ? error.info.details?.reason : undefined;
    throw reason === 'AttestationExpired' ? quoteExpired(order) : error;
  });
}
