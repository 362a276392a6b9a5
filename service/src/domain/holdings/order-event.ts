import type { Hex } from 'viem';
import type { NewEvent } from '../../platform/events/event.ts';
import type { Attestation } from '../../platform/providers/venue.ts';
import type { StoredOrder } from './order-store.ts';

type OrderFacts = Pick<
  StoredOrder,
  'id' | 'partner_id' | 'user_id' | 'offer_id' | 'symbol' | 'chain' | 'amount'
>;

/** Returns the event for an order's new status: the calldata was issued, was executed or has expired. */
export function orderEvent(
  order: OrderFacts,
  status: 'issued' | 'executed' | 'expired',
  { attestation, hash }: { attestation: Attestation | null; hash: Hex | null },
): NewEvent {
  const { id, partner_id, user_id, offer_id, symbol, chain, amount } = order;
  return {
    partnerId: partner_id,
    userId: user_id,
    type: `tokenized_swap.${status}`,
    data: {
      object: 'tokenized_swap_order',
      id,
      offer_id,
      symbol,
      chain,
      status,
      pay_input_amount: amount.toString(),
      receive_output_amount: attestation?.quantity.toString() ?? null,
      attestation_id: attestation?.attestationId.toString() ?? null,
      transaction_hash: hash,
    },
    ...(status !== 'issued' && { changes: { status: 'issued' } }),
  };
}
