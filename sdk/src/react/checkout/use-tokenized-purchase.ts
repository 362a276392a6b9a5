import { useRef, useState } from 'react';
import type { Causeway } from '../../client.ts';
import type { SwapResult } from '../../flows/outcome.ts';
import type { TokenizedPhase } from '../../flows/tokenized-purchase.ts';
import type { EvmWallet } from '../../flows/wallet.ts';
import type { OfferDetails, TokenizedSwapTransaction } from '../../wire.ts';
import { useCauseway } from '../context.ts';
import type { Place } from '../hooks/use-deployment.ts';
import { useInvalidate } from '../hooks/use-query.ts';
import { useFlow } from './use-flow.ts';

type Input = {
  offer: OfferDetails;
  place: Place;
  wallet: EvmWallet | undefined;
  onDone: ((result: SwapResult) => void) | undefined;
};

type Purchase = {
  /** What is paid, fee included. */
  units: bigint;
  /** What the quote for the whole of it gave. */
  expected: bigint;
  slippageBps: number;
};

/** Orders once per confirmation; an order that was not sent is offered again until it expires. */
export function useTokenizedPurchase({ offer, place, wallet, onDone }: Input) {
  const causeway = useCauseway();
  const invalidate = useInvalidate();
  const run = useFlow<TokenizedPhase, SwapResult>();
  const [order, setOrder] = useState<TokenizedSwapTransaction | null>(null);
  const live = useRef<{ id: string; units: bigint; expires: number } | null>(null);

  const buy = ({ units, expected, slippageBps }: Purchase) => {
    if (wallet === undefined) return;
    const kept = live.current;
    const isSame = kept !== null && kept.units === units && Date.now() < kept.expires;
    const confirmationId = isSame ? kept.id : crypto.randomUUID();
    if (!isSame) setOrder(null);
    run.start(async (flows, options) => {
      const watched = watchOrders(causeway, (placed) => {
        live.current = { id: confirmationId, units, expires: Date.parse(placed.expires_at) };
        setOrder(placed);
        if (BigInt(placed.receive_output_amount) < leastReceived(placed, expected, slippageBps))
          throw new flows.FlowError('ordering', 'price_moved', 'The price has moved too far.');
      });
      const { chain, assetId } = place;
      const input = { offer, chain, wallet, assetId, amount: units, confirmationId };
      try {
        const result = await flows.buyTokenized(watched, input, options);
        live.current = null;
        invalidate('tokenBalance', 'tokenAllowance', 'tradingStatus');
        onDone?.(result);
        return result;
      } catch (error) {
        // Until it is sent or has expired, the order stands, and another one would be refused.
        if ((error as { phase?: unknown }).phase === 'confirming') live.current = null;
        throw error;
      }
    });
  };
  return { run, order, buy };
}

/** The client, telling of the order that a flow places: its price and time are shown while the wallet asks. */
function watchOrders(causeway: Causeway, tell: (order: TokenizedSwapTransaction) => void): Causeway {
  const transaction: Causeway['tokenized']['transaction'] = async (body, options) => {
    const placed = await causeway.tokenized.transaction(body, options);
    tell(placed);
    return placed;
  };
  return { ...causeway, tokenized: { ...causeway.tokenized, transaction } };
}

/** The quote knew no fee, so it is compared with the part of the payment that the fee leaves. */
export function leastReceived(
  { notional_value, pay_input_amount }: Pick<TokenizedSwapTransaction, 'notional_value' | 'pay_input_amount'>,
  expected: bigint,
  slippageBps: number,
): bigint {
  const kept = expected * BigInt(notional_value) * BigInt(10_000 - slippageBps);
  return kept / (BigInt(pay_input_amount) * 10_000n);
}
