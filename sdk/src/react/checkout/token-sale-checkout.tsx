import { useEffect, useState } from 'react';
import { parseAmount } from '../../amounts.ts';
import type { OfferDetails, Participation } from '../../wire.ts';
import { useTokenBalance } from '../hooks/use-chain.ts';
import { usePlace } from '../hooks/use-deployment.ts';
import { useWallet } from '../hooks/use-wallet.ts';
import { Empty } from '../ui/elements.tsx';
import { AmountField, PlaceFields, WalletField } from './checkout-fields.tsx';
import { CheckoutGate } from './checkout-gate.tsx';
import { FlowPanel } from './checkout-parts.tsx';
import { TOKEN_SALE_STEPS } from './phases.ts';
import { OptionChoice, SaleDone, SaleSummary, UnboundNotice, UnfinishedNotice } from './token-sale-parts.tsx';
import { useAmount } from './use-amount.ts';
import { useSale } from './use-sale.ts';

export type TokenSaleCheckoutProps = {
  offer: OfferDetails;
  /** The option that is chosen first; the user can choose another unless it is the only one. */
  optionId?: string | undefined;
  onOptionChange?: ((optionId: string) => void) | undefined;
  /** Told when the participation is recorded. */
  onDone?: ((participation: Participation) => void) | undefined;
};

/**
 * Investing in a token sale: option, requirements, network, asset and amount, then approval and participation with its
 * live status. A purchase that was interrupted after its approval goes on from there, also after a reload.
 *
 * @example
 * ```tsx
 * import { TokenSaleCheckout, useOffer } from '@causeway/sdk/react';
 *
 * function Invest() {
 *   const { data: offer } = useOffer('harbour-quarter');
 *   return offer ? <TokenSaleCheckout offer={offer} onDone={({ id }) => console.log(id)} /> : null;
 * }
 * ```
 */
export function TokenSaleCheckout({ offer, optionId, onOptionChange, onDone }: TokenSaleCheckoutProps) {
  const [chosen, setChosen] = useState(optionId ?? offer.options[0]?.id);
  useEffect(() => {
    if (optionId !== undefined) setChosen(optionId);
  }, [optionId]);
  const choose = (id: string) => {
    setChosen(id);
    onOptionChange?.(id);
  };
  const option = offer.options.find(({ id }) => id === chosen);
  return (
    <section className="cw cw-card cw-checkout">
      <h2 className="cw-title">Invest</h2>
      {option === undefined ? (
        <Empty title="There is nothing to invest in here">Please choose another offer.</Empty>
      ) : (
        <>
          {offer.options.length > 1 && <OptionChoice offer={offer} value={option.id} onChange={choose} />}
          <CheckoutGate offer={offer} optionId={option.id} key={option.id}>
            <SaleForm offer={offer} option={option} onDone={onDone} />
          </CheckoutGate>
        </>
      )}
    </section>
  );
}

type FormProps = {
  offer: OfferDetails;
  option: OfferDetails['options'][number];
  onDone: ((participation: Participation) => void) | undefined;
};

function SaleForm({ offer, option, onDone }: FormProps) {
  const { wallet } = useWallet('ethereum');
  const choice = usePlace(offer);
  const { place } = choice;
  const { data: held } = useTokenBalance(
    place && wallet && { token_address: place.token, owner: wallet.address, chain: place.chain },
    { every: 15_000 },
  );
  const minimum = parseAmount(option.minimum_purchase_usd ?? '', place?.decimals ?? 0);
  const limits = {
    ...{ decimals: place?.decimals ?? 0, code: place?.code ?? '' },
    balance: held === undefined ? undefined : BigInt(held.balance),
    minimum: minimum === null ? undefined : BigInt(minimum),
  };
  const amount = useAmount(limits);
  const sale = useSale({ offer, option, place, wallet, onDone });
  const { run, unfinished } = sale;
  if (place === undefined) return <Empty title="This sale is not open on any network yet" />;
  if (run.state.step === 'done')
    return <SaleDone offer={offer} participation={run.state.result} onAgain={run.reset} />;
  const isBusy = run.state.step === 'running';
  const isIdle = run.state.step === 'idle';
  const canBuy = wallet !== undefined && amount.units !== null && sale.isBound !== false;
  return (
    <form
      className="cw-stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (canBuy && amount.units !== null) sale.buy(amount.units);
      }}
    >
      {isIdle && unfinished !== null && (
        <UnfinishedNotice
          {...{ offer, unfinished, wallet }}
          onContinue={sale.resume}
          onDiscard={sale.discard}
        />
      )}
      {isIdle && unfinished === null && (
        <>
          <PlaceFields choice={choice} disabled={false} />
          <WalletField wallet={wallet} disabled={false} />
          {wallet !== undefined && sale.isBound === false && (
            <UnboundNotice {...{ offer, optionId: option.id, wallet, bound: sale.bound }} />
          )}
          <AmountField {...{ amount, limits, hasWallet: wallet !== undefined }} disabled={false} />
          <SaleSummary {...{ offer, option, place }} units={amount.units} />
          <button
            type="submit"
            className="cw-button cw-button-main cw-button-wide"
            disabled={!canBuy || isBusy}
          >
            Invest
          </button>
        </>
      )}
      <FlowPanel
        run={run}
        steps={TOKEN_SALE_STEPS}
        onRetry={unfinished === null ? sale.again : sale.resume}
        retryLabel={unfinished === null ? 'Try again' : 'Continue'}
      />
    </form>
  );
}
