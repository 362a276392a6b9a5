import { useState } from 'react';
import { formatAmount, parseAmount } from '../../amounts.ts';
import type { SwapResult } from '../../flows/outcome.ts';
import type { OfferDetails, TokenizedSwapTransaction } from '../../wire.ts';
import { useQuote, useTradingStatus } from '../hooks/use-tokenized.ts';
import { useWallet } from '../hooks/use-wallet.ts';
import { BlockerNotice } from '../identity/blocker-notice.tsx';
import { useWalletBlockers } from '../identity/use-blockers.ts';
import { Empty } from '../ui/elements.tsx';
import { truncateDecimals } from '../ui/format.ts';
import { AmountField, DeploymentFields, SlippageField, WalletField } from './checkout-fields.tsx';
import { CheckoutGate } from './checkout-gate.tsx';
import { FlowPanel } from './flow-panel.tsx';
import { MarketNotice, MarketPrice } from './market-price.tsx';
import { OrderPanel, TokenizedSummary } from './order-panel.tsx';
import { TOKENIZED_STEPS } from './phases.ts';
import { SwapDone } from './swap-done.tsx';
import { useAmount } from './use-amount.ts';
import { useBalance } from './use-balance.ts';
import { useDebounced } from './use-debounced.ts';
import { type Deployment, type DeploymentChoice, useDeployment } from './use-deployment.ts';
import { useTokenizedPurchase } from './use-tokenized-purchase.ts';

const STATUS_INTERVAL_MS = 10_000;
const QUOTE_INTERVAL_MS = 3_000;
const SLIPPAGE_BPS_CHOICES = [50, 100, 300];
const DEFAULT_SLIPPAGE_BPS = 100;

export type TokenizedCheckoutProps = {
  offer: OfferDetails;
  /** Called when the purchase is confirmed. */
  onDone?: ((result: SwapResult) => void) | undefined;
};

/**
 * The checkout of a tokenized asset: market status and limits, live price, amount, approval, and an order that is
 * verified before the wallet sends it.
 *
 * @example
 * ```tsx
 * import { TokenizedCheckout, useOffer } from '@causeway/sdk/react';
 *
 * function Trade() {
 *   const { data: offer } = useOffer('apple-tokenized');
 *   return offer ? <TokenizedCheckout offer={offer} onDone={({ received }) => console.log(received)} /> : null;
 * }
 * ```
 */
export function TokenizedCheckout({ offer, onDone }: TokenizedCheckoutProps) {
  const option = offer.options[0];
  const choice = useDeployment(offer);
  return (
    <section className="cw cw-card cw-checkout">
      <h2 className="cw-title">Buy {offer.asset.code}</h2>
      {option === undefined || choice.deployment === undefined ? (
        <Empty title="This asset can't be traded yet" />
      ) : (
        <>
          <MarketPrice symbol={offer.asset.code} />
          <CheckoutGate offer={offer} optionId={option.id}>
            <TradeForm {...{ offer, choice, onDone }} deployment={choice.deployment} />
          </CheckoutGate>
        </>
      )}
    </section>
  );
}

type FormProps = TokenizedCheckoutProps & { choice: DeploymentChoice; deployment: Deployment };

function TradeForm({ offer, choice, deployment, onDone }: FormProps) {
  const { wallet } = useWallet('ethereum');
  const [slippageBps, setSlippageBps] = useState(DEFAULT_SLIPPAGE_BPS);
  const { amount, limits, quote, isTradable } = useTradeQuote(offer.asset.code, deployment, wallet?.address);
  const { run, order, buy } = useTokenizedPurchase({ offer, deployment, wallet, onDone });
  const blockers = useWalletBlockers(offer.id, offer.options[0]?.id, deployment.chain, wallet);
  if (run.state.step === 'done')
    return (
      <SwapDone
        result={run.state.result}
        paid={deployment}
        received={receivedUnit(offer, order)}
        onAgain={() => {
          amount.setText('');
          run.reset();
        }}
      />
    );
  const canBuy =
    isTradable &&
    blockers.length === 0 &&
    wallet !== undefined &&
    amount.units !== null &&
    quote.data !== undefined;
  const startPurchase = () => {
    if (amount.units !== null && quote.data !== undefined)
      buy({ units: amount.units, quoted: BigInt(quote.data.token_base_units), slippageBps });
  };
  return (
    <form
      className="cw-stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (canBuy) startPurchase();
      }}
    >
      {run.state.step === 'idle' ? (
        <>
          <MarketNotice symbol={offer.asset.code} error={quote.error} />
          <DeploymentFields choice={choice} disabled={false} />
          <WalletField wallet={wallet} disabled={false} />
          <BlockerNotice blockers={blockers} onProgress={() => undefined} />
          <AmountField {...{ amount, limits, hasWallet: wallet !== undefined }} disabled={!isTradable} />
          <SlippageField value={slippageBps} choices={SLIPPAGE_BPS_CHOICES} onChange={setSlippageBps} />
          <TokenizedSummary {...{ offer, deployment, quote: quote.data, units: amount.units }} />
          <button type="submit" className="cw-button cw-button-main cw-button-wide" disabled={!canBuy}>
            Buy {offer.asset.code}
          </button>
        </>
      ) : (
        <OrderPanel {...{ offer, deployment, order }} phase={run.state.phase} />
      )}
      <FlowPanel run={run} steps={TOKENIZED_STEPS} onRetry={startPurchase} />
    </form>
  );
}

/**
 * Returns the unit of the purchased token. Prefers the decimals in the order, which come from the contract,
 * to the decimals of the offer's asset.
 */
function receivedUnit(offer: OfferDetails, order: TokenizedSwapTransaction | null) {
  return {
    code: offer.asset.code,
    decimals: order?.receive_output_decimals ?? offer.asset.fractional_digits,
  };
}

/** Returns the amount being typed, the market's limits, and a live quote for the amount. */
function useTradeQuote(symbol: string, deployment: Deployment, owner: string | undefined) {
  const { decimals, code } = deployment;
  const balance = useBalance(deployment, owner);
  const status = useTradingStatus({ symbol, side: 'buy' }, { pollIntervalMs: STATUS_INTERVAL_MS }).data;
  const maximums = [status?.gross_max_notional_value, status?.gross_max_active_notional_value].flatMap(
    (usd) => {
      const units = parseAmount(truncateDecimals(usd ?? '', decimals), decimals);
      return usd == null || units === null ? [] : [BigInt(units)];
    },
  );
  const maximum = maximums.length === 0 ? undefined : maximums.reduce((a, b) => (b < a ? b : a));
  const limits = { decimals, code, balance, maximum };
  const amount = useAmount(limits);
  const units = amount.units?.toString();
  const debouncedUnits = useDebounced(units);
  const quote = useQuote(
    debouncedUnits === undefined
      ? null
      : { symbol, side: 'buy', notional_value: formatAmount(debouncedUnits, decimals) },
    { pollIntervalMs: QUOTE_INTERVAL_MS },
  );
  return {
    ...{ amount, limits, isTradable: status?.tradable === true },
    quote: debouncedUnits === units ? quote : { ...quote, data: undefined, error: undefined },
  };
}
