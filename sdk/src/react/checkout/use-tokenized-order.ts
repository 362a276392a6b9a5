import { useRef, useState } from 'react';
import type { Causeway } from '../../client.ts';
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
};

/**
 * Places an order when the user confirms. If the user confirms the same purchase again before the order is sent, reuses
 * the order until it expires.
 */
export function useTokenizedOrder({ offer, deployment, wallet, onDone }: Input) {
  const causeway = useCauseway();
  const invalidatePurchase = usePurchaseDone();
  const terms = termsOf(deployment, wallet);
  const run = useFlow<TokenizedPhase, SwapResult>(terms);
  const [order, setOrder] = useState<TokenizedSwapTransaction | null>(null);
  const openOrder = useRef<{ id: string; key: string; expiresAt: number } | null>(null);
  const last = useRef<Purchase | undefined>(undefined);
  useOnChange(offer.id, run.reset);

  const buy = (purchase: Purchase) => {
    if (wallet === undefined || deployment === undefined) return;
    last.current = purchase;
    const { units, minReceive } = purchase;
    const open = openOrder.current;
    const key = `${offer.id} ${terms} ${units}`;
    const isSame = open?.key === key && Date.now() < open.expiresAt;
    const confirmationId = isSame ? open.id : crypto.randomUUID();
    if (!isSame) setOrder(null);
    run.start(async (flows, options) => {
      const { runExclusively, swapLock } = await loadParts();
      const client = withOrderListener(causeway, (placed) => {
        openOrder.current = { id: confirmationId, key, expiresAt: Date.parse(placed.expires_at) };
        setOrder(placed);
      });
      const { chain, assetId } = deployment;
      const input = { offer, chain, wallet, assetId, amount: units, confirmationId, minReceive };
      try {
        // Holds the lock, so that another tab cannot revoke the approval in the meantime.
        const result = await runExclusively(swapLock(wallet), (onSend) =>
          flows.buyTokenized(client, input, { ...options, onSend }),
        );
        openOrder.current = null;
        invalidatePurchase();
        notify(onDone, result);
        return result;
      } catch (error) {
        // If the flow failed while `confirming`, the order was already sent, so the next attempt needs a new one. After
        // a failure in an earlier phase, the next attempt reuses the order, because the service rejects a second order
        // until the first one expires.
        if ((error as { phase?: unknown }).phase === 'confirming') openOrder.current = null;
        throw error;
      }
    });
  };
  // Repeats the purchase on the terms that the user confirmed, because the page has shown no newer quote since.
  const retry = () => last.current && buy(last.current);
  return { run, order, buy, retry };
}

/**
 * Wraps the client to report the order that a flow places, so that the page can show its price and expiry
 * during the wallet prompt.
 */
function withOrderListener(causeway: Causeway, onOrder: (order: TokenizedSwapTransaction) => void): Causeway {
  const transaction: Causeway['tokenized']['transaction'] = async (body, options) => {
    const placed = await causeway.tokenized.transaction(body, options);
    onOrder(placed);
    return placed;
  };
  return { ...causeway, tokenized: { ...causeway.tokenized, transaction } };
}
