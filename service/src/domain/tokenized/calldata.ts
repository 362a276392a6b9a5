import { encodeSwap, findCostProblem } from '@causeway/contracts/encodings/tokenized-order.ts';
import { ApiError } from '../../kernel/errors.ts';
import { toTimestamp } from '../../kernel/wire.ts';
import { readDecimals } from '../../platform/chain/evm/erc20.ts';
import { simulate } from '../../platform/chain/evm/simulate.ts';
import type { Context } from '../../platform/context/context.ts';
import { appendEvent } from '../../platform/events/event.ts';
import type { Signer } from '../../platform/operator/signer.ts';
import { invalidResponse } from '../../platform/outbound/failure.ts';
import type { Attestation } from '../../platform/providers/venue.ts';
import { orderEvent } from '../holdings/order-event.ts';
import { issueOrder, moveOrder } from '../holdings/order-store.ts';
import { assertMayTrade, lockMayTrade } from './eligibility.ts';
import type { Intent } from './intent.ts';
import type { Cost } from './order-checks.ts';
import { signQuoteRequest } from './quote-signature.ts';
import type { SwapTransaction } from './schema.ts';

type AttestedOrder = {
  id: string;
  attestation: Attestation;
  cost: Cost;
  /** Whether `lockMayTrade` repeats all checks of `assertMayTrade`. */
  isCoveredByLock: boolean;
};

/**
 * Signs, encodes and simulates an attested order, then issues its calldata. The same attested order always yields the
 * same calldata. If the contract has changed since the cost was read, the simulation reverts and nothing is issued.
 */
export async function issueCalldata(
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
