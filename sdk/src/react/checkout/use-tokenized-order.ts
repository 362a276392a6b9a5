import { useRef, useState } from 'react';
import type { Causeway } from '../../client.ts';
import type { CausewayError } from '../../error.ts';
import type { SwapResult } from '../../flows/outcome.ts';
import type { TokenizedPhase } from '../../flows/tokenized-purchase.ts';
import type { EvmWallet } from '../../flows/wallet.ts';
import { notify } from '../../notify.ts';
import type { OfferDetails, TokenizedSwapTransaction } from '../../wire.ts';
import { useCauseway } from '../context.ts';
import { useFlow } from '../hooks/use-flow.ts';
import { useOnChange } from '../hooks/use-on-change.ts';
import { usePurchaseDone } from '../hooks/use-purchase-done.ts';
import { loadParts } from '../load-parts.ts';
import { type Deployment, termsOf } from './use-deployment.ts';

type Input = {
  offer: OfferDetails;
  deployment: Deployment | undefined;
  wallet: EvmWallet | undefined;
  onDone: ((result: SwapResult) => void) | undefined;
};

type Purchase = {
  /** The payment in smallest units, fee included. */
  units: bigint;
  /** The minimum to receive, in smallest units. */
  minReceive: bigint;
  /** The fee that was shown, in basis points. */
  maxFeeBps: number;
};

/**
 * Places an order when the user confirms. If the user confirms the same purchase again before the order is sent, or
 * after the service's reply was lost, reuses the order until it expires.
 */
export function useTokenizedOrder({ offer, deployment, wallet, onDone }: Input) {
  const causeway = useCauseway();
  const invalidatePurchase = usePurchaseDone();
  const terms = termsOf(deployment, wallet);
  const run = useFlow<TokenizedPhase, SwapResult>(terms);
  const [order, setOrder] = useState<TokenizedSwapTransaction | null>(null);
  /**
   * The `id` of the confirmation whose order may be open, and a `key` for what the user confirmed. Once the service has
   * replied, `order` is that order.
   */
  const open = useRef<{ id: string; key: string } | null>(null);
  const last = useRef<Purchase | undefined>(undefined);
  useOnChange(offer.id, run.reset);

  const buy = (purchase: Purchase) => {
    if (wallet === undefined || deployment === undefined) return;
    last.current = purchase;
    const { units, minReceive, maxFeeBps } = purchase;
    const key = `${offer.id} ${terms} ${units}`;
    // False without an order: NaN compares as false.
    const isExpired = Date.now() >= Date.parse(order?.expires_at ?? '');
    if (open.current?.key !== key || isExpired) {
      open.current = { id: crypto.randomUUID(), key };
      setOrder(null);
    }
    const confirmationId = open.current.id;
    run.start(async (flows, options) => {
      const { runExclusively, swapLock } = await loadParts();
      // Reports the order, so that the page can show its price and expiry during the wallet prompt.
      const transaction: Causeway['tokenized']['transaction'] = async (...call) => {
        const placed = await causeway.tokenized.transaction(...call);
        setOrder(placed);
        return placed;
      };
      const client = { ...causeway, tokenized: { ...causeway.tokenized, transaction } };
      const { chain, assetId } = deployment;
      const input = { offer, chain, wallet, assetId, amount: units, confirmationId, minReceive, maxFeeBps };
      try {
        // Holds the lock, so that another tab cannot revoke the approval in the meantime.
        const result = await runExclusively(swapLock(wallet), (onSend) =>
          flows.buyTokenized(client, input, { ...options, onSend }),
        );
        open.current = null;
        invalidatePurchase();
        notify(onDone, result);
        return result;
      } catch (error) {
        // If the flow failed while `confirming`, the order was already sent, so the next attempt needs a new order. The
        // next attempt also needs a new order if the service rejected this one. After any other failure, the next
        // attempt reuses the order, because the service rejects a second order until the first one expires. Even if the
        // reply was lost, the service may have placed the order. A reply with `Retry-After`, such as
        // `idempotency_in_progress` while the first request runs, is not a rejection.
        const { phase, cause } = error as { phase?: unknown; cause?: Partial<CausewayError> };
        const isRejected = phase === 'ordering' && !cause?.retryAfter && /^4/.test(`${cause?.status}`);
        if (phase === 'confirming' || isRejected) open.current = null;
        throw error;
      }
    });
  };
  // Repeats the purchase on the terms that the user confirmed, because the page has shown no newer quote since.
  const retry = () => last.current && buy(last.current);
  return { run, order, buy, retry };
}
