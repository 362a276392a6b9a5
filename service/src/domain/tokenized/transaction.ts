import { encodeSwap, findCostProblem } from '@causeway/contracts/encodings/tokenized-order.ts';
import { formatUnits } from 'viem/utils';
import type { UserCaller } from '../../kernel/access.ts';
import { ApiError } from '../../kernel/errors.ts';
import { newId } from '../../kernel/ids.ts';
import { toTimestamp } from '../../kernel/wire.ts';
import { readDecimals } from '../../platform/chain/evm/erc20.ts';
import { simulate } from '../../platform/chain/evm/node-reads.ts';
import type { Context } from '../../platform/context/context.ts';
import { appendEvent } from '../../platform/events/event.ts';
import type { Signer } from '../../platform/operator/signer.ts';
import { invalidResponse, notConfigured, upstreamFailureOf } from '../../platform/outbound/failure.ts';
import { type Attestation, VenueAccountError, VenueRefusal } from '../../platform/providers/venue.ts';
import {
  findEarlierOrders,
  findHolding,
  insertOrder,
  issueOrder,
  moveOrder,
  releaseExpired,
  type StoredOrder,
  saveAttestation,
} from '../holdings/order-store.ts';
import { lockProofs } from '../proofs/proof-store.ts';
import { lockActiveAccount } from '../users/account.ts';
import { assertMayTrade, type Intent, lockMayTrade, readIntent } from './intent.ts';
import {
  assertAffordable,
  assertTradable,
  type Cost,
  readCost,
  readFee,
  type Terms,
} from './order-checks.ts';
import { orRefuse } from './refusal.ts';
import { CLAIM_TTL_MS } from './retention.ts';
import type { NewTransaction, SwapTransaction } from './schema.ts';
import { assertOperator, readDomain, signQuoteRequest } from './swap-domain.ts';
import { orderEvent, releaseIfExecuted } from './watch.ts';

/** Terms that were read longer ago are read again before an attestation is requested. */
const MAX_TERMS_AGE_MS = 500;

/**
 * Runs every check and stores the order before requesting an attestation. A repeated request finds the stored order,
 * so even after a crash it never uses up a second attestation.
 */
export async function encodeTransaction(
  ctx: Context,
  caller: UserCaller,
  input: NewTransaction,
  idempotencyKey: string | undefined,
): Promise<SwapTransaction> {
  const intent = await readIntent(ctx, caller, input, idempotencyKey);
  const signer = quoteSignerOf(ctx, intent.contract.chain);
  const { wallet, asset, claim, contract } = intent;
  const place = { chain: contract.chain, wallet, asset };
  const checkUser = async () => {
    const earlier = await findEarlierOrders(ctx.db, place, claim, iso(ctx.clock.now() - CLAIM_TTL_MS));
    if (earlier.claimed !== undefined) assertSameIntent(intent, earlier.claimed);
    const isCoveredByLock = await assertMayTrade(ctx, caller, intent.offer, contract, wallet);
    return { ...earlier, isCoveredByLock };
  };
  const checked = checkUser();
  let readAt = 0;
  // Reads the terms while the database is read.
  const terms = checkTerms(ctx, intent, signer).finally(() => {
    readAt = performance.now();
  });
  // Waits for both even if one fails, so that nothing is read after the request has ended.
  await Promise.allSettled([checked, terms]);
  const { claimed, holding, isCoveredByLock } = await checked;
  if (claimed !== undefined) return resume(ctx, intent, signer, claimed, isCoveredByLock);
  if (holding !== undefined) await releaseOpenOrder(ctx, holding);
  // The execution of the earlier order may have changed the terms, as may anything else if the other checks took long.
  const isCurrent = holding === undefined && performance.now() - readAt < MAX_TERMS_AGE_MS;
  const cost = await (isCurrent ? terms : checkTerms(ctx, intent, signer));
  const id = await insertNewOrder(ctx, intent, cost);
  const attestation = await attest(ctx, intent, cost, id);
  const expiresAt = iso(Number(attestation.expiration) * 1000);
  await saveAttestation(ctx.db, id, attestation, expiresAt, toTimestamp(ctx.clock.micros()));
  return issueCalldata(ctx, intent, signer, { id, attestation, cost, isCoveredByLock });
}

/** In parallel, so that their reads are batched. If several checks fail, throws the error of the one listed first. */
async function checkTerms(ctx: Context, intent: Intent, signer: Signer): Promise<Terms> {
  const { chain, contract } = intent;
  const [fee, tradable, cost, ...signing] = await Promise.allSettled([
    readFee(intent),
    assertTradable(ctx, intent),
    assertAffordable(intent),
    readDomain(chain, contract),
    assertOperator(chain, contract, signer),
  ]);
  if (fee.status === 'rejected') throw fee.reason;
  if (tradable.status === 'rejected') throw tradable.reason;
  if (cost.status === 'rejected') throw cost.reason;
  for (const check of signing) if (check.status === 'rejected') throw check.reason;
  return cost.value;
}

function quoteSignerOf({ signerOf }: Context, chain: string): Signer {
  const signer = signerOf('quote', chain);
  if (signer !== null) return signer;
  throw notConfigured('signer', 'OPERATOR_KEY');
}

/** Throws if the user is no longer eligible, so that ineligible users do not get a stored reply again. */
export async function assertMayReplay(
  ctx: Context,
  caller: UserCaller,
  input: NewTransaction,
): Promise<void> {
  const { offer, contract, wallet } = await readIntent(ctx, caller, input, undefined);
  await assertMayTrade(ctx, caller, offer, contract, wallet);
}

function assertSameIntent(
  { symbol, contract, wallet, token, asset, gross }: Intent,
  order: StoredOrder,
): void {
  const isSame =
    order.symbol === symbol &&
    order.chain === contract.chain &&
    order.swap === contract.address &&
    order.wallet === wallet &&
    order.token === token &&
    order.asset === asset &&
    order.amount === gross;
  if (!isSame) throw new ApiError('idempotency_key_reused');
}

/** Completes the order of an earlier run of the same request. Never places another one. */
async function resume(
  ctx: Context,
  intent: Intent,
  signer: Signer,
  { id, state, attestation, expires_at }: StoredOrder,
  isCoveredByLock: boolean,
): Promise<SwapTransaction> {
  if (state === 'attested' && attestation !== null && Date.parse(expires_at) > ctx.clock.now()) {
    const cost = await readCost(intent);
    return issueCalldata(ctx, intent, signer, { id, attestation, cost, isCoveredByLock });
  }
  throw orderOutstanding(
    expires_at,
    'The outcome of this order is unknown until it expires. After "expires_at", confirm again with a new idempotency key.',
  );
}

/** Releases the wallet's open order if it has expired or was just executed. Throws `order_outstanding` otherwise. */
async function releaseOpenOrder(ctx: Context, holding: StoredOrder): Promise<void> {
  if (Date.parse(holding.expires_at) < ctx.clock.now())
    return releaseExpired(ctx.db, holding, toTimestamp(ctx.clock.micros()));
  if (!(await releaseIfExecuted(ctx, holding))) throw orderOutstanding(holding.expires_at);
}

function orderOutstanding(expiresAt: string, message?: string): ApiError {
  return new ApiError(
    'order_outstanding',
    { expires_at: expiresAt },
    message === undefined ? {} : { message },
  );
}

async function insertNewOrder(ctx: Context, intent: Intent, { fromBlock }: Terms): Promise<string> {
  const { caller, offer, contract, symbol, wallet, token, asset, gross, claim } = intent;
  const order = {
    id: newId(ctx.clock, ctx.random),
    partner_id: caller.partnerId,
    user_id: caller.userId,
    offer_id: offer.id,
    chain: contract.chain,
    swap: contract.address,
    symbol,
    wallet,
    asset,
    token,
    claim,
    amount: gross,
    // No attestation is valid after this time. An order whose outcome is unknown stays open until then.
    expires_at: iso(ctx.clock.now() + ctx.config.attestationMaxSeconds * 1000),
    from_block: fromBlock,
  };
  const now = toTimestamp(ctx.clock.micros());
  // The locks keep the conditions of `insertOrder` from changing. Their results say why nothing was inserted.
  const { isProven, id } = await ctx.db.transaction().execute(async (tx) => {
    await lockActiveAccount(tx, order.user_id);
    const proof = { user_id: order.user_id, partner_id: order.partner_id, wallet_address: wallet };
    return { isProven: await lockProofs(tx, [proof]), id: await insertOrder(tx, order, now) };
  });
  if (id !== undefined) return id;
  if (!isProven) throw new ApiError('wallet_not_proven');
  const holding = await findHolding(ctx.db, order);
  throw orderOutstanding(holding?.expires_at ?? order.expires_at);
}

async function attest(
  ctx: Context,
  { chain, symbol }: Intent,
  { net, decimals }: Cost,
  id: string,
): Promise<Attestation> {
  const order = { symbol, side: 'buy' as const, notionalValue: formatUnits(net, decimals) };
  const attested = ctx.venue.attest(chain.chainId, order).catch(async (error: unknown) => {
    const to = wasRefused(error)
      ? { state: 'refused' as const, holding: false }
      : { state: 'unknown' as const, holding: true };
    await moveOrder(ctx.db, id, 'asking', to, toTimestamp(ctx.clock.micros()));
    throw error;
  });
  return orRefuse(ctx, symbol, attested, 'amount');
}

/** Returns true only if the error proves that the venue did not attest the order. */
function wasRefused(error: unknown): boolean {
  if (error instanceof VenueRefusal || (error as Error).cause instanceof VenueAccountError) return true;
  const kind = upstreamFailureOf(error)?.kind;
  return kind === 'not_sent' || kind === 'rate_limited';
}

function iso(time: number): string {
  return new Date(time).toISOString();
}

type AttestedOrder = {
  id: string;
  attestation: Attestation;
  cost: Cost;
  /** Whether `lockMayTrade` repeats all checks of `assertMayTrade`. */
  isCoveredByLock: boolean;
};

/**
 * The same attested order always yields the same calldata. If the contract has changed since the cost was read, the
 * simulation reverts and nothing is issued.
 */
async function issueCalldata(
  ctx: Context,
  intent: Intent,
  signer: Signer,
  { id, attestation, cost: { nonce, fee, net, decimals }, isCoveredByLock }: AttestedOrder,
): Promise<SwapTransaction> {
  const { chain, contract, token, asset, wallet, gross } = intent;
  const fail = async () => {
    const failed = { state: 'failed', holding: false } as const;
    await moveOrder(ctx.db, id, 'attested', failed, toTimestamp(ctx.clock.micros()));
  };
  const assertUsable = async () => {
    const problem = findProblem(ctx, intent, attestation) ?? findCostProblem(attestation, net, decimals);
    if (problem === null) return;
    await fail();
    throw invalidResponse('venue', problem);
  };
  await assertUsable();
  const assetDecimals = await readDecimals(chain, asset);
  const signature = await signQuoteRequest(signer, chain, contract, {
    side: 0,
    inputToken: token,
    outputToken: asset,
    sender: wallet,
    nonce,
    amount: gross,
    expiry: attestation.expiration,
  });
  const data = encodeSwap(attestation, token, gross, signature);
  await simulate(chain, { from: wallet, to: contract.address, data }).catch(async (error: unknown) => {
    if (error instanceof ApiError && error.code === 'contract_reverted') await fail();
    throw error;
  });
  // The attestation may have expired in the meantime.
  await assertUsable();
  // Calldata cannot be recalled, so eligibility is checked once more right before the calldata is issued.
  if (!isCoveredByLock) await assertMayTrade(ctx, intent.caller, intent.offer, contract, wallet);
  const reply: SwapTransaction = {
    object: 'tokenized_swap_transaction',
    action: 'broadcast_transaction',
    data,
    to: contract.address,
    expires_at: expiryOf(attestation),
    pay_input_amount: gross.toString(),
    fee: fee.toString(),
    notional_value: net.toString(),
    pay_input_decimals: decimals,
    receive_output_amount: attestation.quantity.toString(),
    receive_output_decimals: assetDecimals,
  };
  return ctx.commitReply(async (tx) => {
    await lockMayTrade(ctx, tx, intent.caller, intent.offer, wallet);
    if (!(await issueOrder(tx, id, fee, toTimestamp(ctx.clock.micros()))))
      throw new ApiError('order_outstanding', { expires_at: expiryOf(attestation) });
    const order = {
      id,
      partner_id: intent.caller.partnerId,
      user_id: intent.caller.userId,
      offer_id: intent.offer.id,
      symbol: intent.symbol,
      chain: contract.chain,
      amount: gross,
    };
    await appendEvent(ctx, tx, orderEvent(order, 'issued', { attestation, hash: null }));
    return reply;
  });
}

function expiryOf({ expiration }: Attestation): string {
  return toTimestamp(Number(expiration) * 1_000_000);
}

function findProblem({ clock, config }: Context, { asset }: Intent, attestation: Attestation): string | null {
  if (attestation.asset !== asset) return 'attestation for another asset';
  if (attestation.quantity === 0n) return 'attestation without a quantity';
  const secondsLeft = Number(attestation.expiration) - clock.now() / 1000;
  if (secondsLeft > config.attestationMaxSeconds)
    return `attestation valid for more than ${config.attestationMaxSeconds} s`;
  return secondsLeft <= 0 ? 'expired attestation' : null;
}
