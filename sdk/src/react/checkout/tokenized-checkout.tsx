import { useState } from 'react';
import { formatAmount, parseAmount } from '../../amounts.ts';
import type { SwapResult } from '../../flows/outcome.ts';
import type { OfferDetails, TokenizedSwapTransaction } from '../../wire.ts';
import { useQuote, useTokenBalance, useTradingStatus } from '../hooks/use-chain.ts';
import { type Place, type PlaceChoice, usePlace } from '../hooks/use-deployment.ts';
import { useWallet } from '../hooks/use-wallet.ts';
import { LivePrice, MarketNotice } from '../offers/market.tsx';
import { Empty } from '../ui/elements.tsx';
import { cutDecimals } from '../ui/format.ts';
import { AmountField, ChoiceField, PlaceFields, WalletField } from './checkout-fields.tsx';
import { CheckoutGate } from './checkout-gate.tsx';
import { FlowPanel } from './checkout-parts.tsx';
import { TOKENIZED_STEPS } from './phases.ts';
import { SwapDone } from './swap-done.tsx';
import { OrderPanel, TokenizedSummary } from './tokenized-parts.tsx';
import { useAmount, useSettled } from './use-amount.ts';
import { useTokenizedPurchase } from './use-tokenized-purchase.ts';

export type TokenizedCheckoutProps = {
  offer: OfferDetails;
  /** Told when the purchase is confirmed. */
  onDone?: ((result: SwapResult) => void) | undefined;
};

/**
 * Buying a tokenized asset: the market and its limits, a live price, amount, approval, and an order that is checked
 * before the wallet sends it, within its time.
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
  const choice = usePlace(offer);
  return (
    <section className="cw cw-card cw-checkout">
      <h2 className="cw-title">Buy {offer.asset.code}</h2>
      {option === undefined || choice.place === undefined ? (
        <Empty title="This asset cannot be traded yet" />
      ) : (
        <>
          <LivePrice symbol={offer.asset.code} />
          <CheckoutGate offer={offer} optionId={option.id}>
            <TradeForm {...{ offer, choice, onDone }} place={choice.place} />
          </CheckoutGate>
        </>
      )}
    </section>
  );
}

const SLIPPAGES = [
  { value: '50', label: '0.5 %' },
  { value: '100', label: '1 %' },
  { value: '300', label: '3 %' },
] as const;

type FormProps = TokenizedCheckoutProps & { choice: PlaceChoice; place: Place };

function TradeForm({ offer, choice, place, onDone }: FormProps) {
  const { wallet } = useWallet('ethereum');
  const [slippage, setSlippage] = useState('100');
  const { amount, limits, quote, isTradable } = useTradeNumbers(offer.asset.code, place, wallet?.address);
  const { run, order, buy } = useTokenizedPurchase({ offer, place, wallet, onDone });
  if (run.state.step === 'done')
    return (
      <SwapDone
        result={run.state.result}
        paid={place}
        received={receivedUnit(offer, order)}
        onAgain={() => {
          amount.setText('');
          run.reset();
        }}
      />
    );
  const canBuy = isTradable && wallet !== undefined && amount.units !== null && quote.data !== undefined;
  const begin = () => {
    if (amount.units !== null && quote.data !== undefined)
      buy({
        units: amount.units,
        expected: BigInt(quote.data.token_base_units),
        slippageBps: Number(slippage),
      });
  };
  return (
    <form
      className="cw-stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (canBuy) begin();
      }}
    >
      {run.state.step === 'idle' ? (
        <>
          <MarketNotice symbol={offer.asset.code} error={quote.error} />
          <PlaceFields choice={choice} disabled={false} />
          <WalletField wallet={wallet} disabled={false} />
          <AmountField {...{ amount, limits, hasWallet: wallet !== undefined }} disabled={!isTradable} />
          <ChoiceField
            label="Price protection"
            hint="How much less than the price now you accept."
            value={slippage}
            choices={SLIPPAGES}
            disabled={false}
            onChange={setSlippage}
          />
          <TokenizedSummary {...{ offer, place, quote: quote.data, units: amount.units }} />
          <button type="submit" className="cw-button cw-button-main cw-button-wide" disabled={!canBuy}>
            Buy {offer.asset.code}
          </button>
        </>
      ) : (
        <OrderPanel {...{ offer, place, order }} phase={run.state.phase} />
      )}
      <FlowPanel run={run} steps={TOKENIZED_STEPS} onRetry={begin} />
    </form>
  );
}

/** The order knows the decimals of the contract; the offer those of the asset. */
function receivedUnit(offer: OfferDetails, order: TokenizedSwapTransaction | null) {
  return {
    code: offer.asset.code,
    decimals: order?.receive_output_decimals ?? offer.asset.fractional_digits,
  };
}

function useTradeNumbers(symbol: string, place: Place, owner: string | undefined) {
  const { chain, token, decimals, code } = place;
  const { data: held } = useTokenBalance(
    owner === undefined ? null : { token_address: token, owner, chain },
    {
      every: 15_000,
    },
  );
  const status = useTradingStatus({ symbol, side: 'buy' }, { every: 10_000 }).data;
  const most = [status?.gross_max_notional_value, status?.gross_max_active_notional_value].flatMap((usd) => {
    const units = parseAmount(cutDecimals(usd ?? '', decimals), decimals);
    return usd == null || units === null ? [] : [BigInt(units)];
  });
  const limits = {
    ...{ decimals, code, balance: held === undefined ? undefined : BigInt(held.balance) },
    maximum: most.length === 0 ? undefined : most.reduce((a, b) => (b < a ? b : a)),
  };
  const amount = useAmount(limits);
  const settled = useSettled(amount.units?.toString());
  const isSettled = settled === amount.units?.toString();
  const quote = useQuote(
    settled === undefined ? null : { symbol, side: 'buy', notional_value: formatAmount(settled, decimals) },
    { every: 3_000 },
  );
  return {
    ...{ amount, limits, isTradable: status?.tradable === true },
    quote: isSettled ? quote : { ...quote, data: undefined, error: undefined },
  };
}
