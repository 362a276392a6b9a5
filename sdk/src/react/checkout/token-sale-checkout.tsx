import { useEffect, useState } from 'react';
import { parseAmount } from '../../amounts.ts';
import { CHAINS } from '../../chains.ts';
import type { OfferDetails, Participation } from '../../wire.ts';
import { useWallet } from '../hooks/use-wallet.ts';
import { BlockerNotice } from '../identity/blocker-notice.tsx';
import { useWalletBlockers } from '../identity/use-blockers.ts';
import { AddressText, Empty } from '../ui/elements.tsx';
import { AmountField, DeploymentFields, WalletField } from './checkout-fields.tsx';
import { CheckoutGate } from './checkout-gate.tsx';
import { FlowPanel } from './flow-panel.tsx';
import { OptionPicker } from './option-picker.tsx';
import { TOKEN_SALE_STEPS } from './phases.ts';
import { SaleDone } from './sale-done.tsx';
import { UnfinishedSaleNotice, UnregisteredWalletNotice } from './sale-notices.tsx';
import { SaleSummary } from './sale-summary.tsx';
import { useUnfinishedSale } from './unfinished-sale.ts';
import { useAmount } from './use-amount.ts';
import { useSaleBalance } from './use-balance.ts';
import { useSaleDeployment } from './use-deployment.ts';
import { useTokenSale } from './use-token-sale.ts';

export type TokenSaleCheckoutProps = {
  offer: OfferDetails;
  /** The selected option; the user can select another one. Default: the first. */
  optionId?: string | undefined;
  onOptionChange?: ((optionId: string) => void) | undefined;
  /** Called when the participation is recorded. */
  onDone?: ((participation: Participation) => void) | undefined;
};

/**
 * The checkout of a token sale: option, requirements, network, asset, amount, approval, and the participation with its
 * live status. A purchase interrupted after its approval resumes from there, even after a reload.
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
        <Empty title="Nothing to invest in yet">Please choose another offer.</Empty>
      ) : (
        <>
          {offer.options.length > 1 && <OptionPicker offer={offer} value={option.id} onChange={choose} />}
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
  const choice = useSaleDeployment(offer);
  const { deployment } = choice;
  const unfinishedSale = useUnfinishedSale(offer.id);
  const [unfinished] = unfinishedSale;
  const chain = unfinished?.chain ?? deployment?.chain;
  const protocol = chain === undefined ? 'ethereum' : CHAINS[chain].protocol;
  const { wallet } = useWallet(protocol);
  const balance = useSaleBalance(deployment, wallet?.address);
  const minimum = parseAmount(option.minimum_purchase_usd ?? '', deployment?.decimals ?? 0);
  const limits = {
    ...{ decimals: deployment?.decimals ?? 0, code: deployment?.code ?? '', balance },
    minimum: minimum === null ? undefined : BigInt(minimum),
  };
  const amount = useAmount(limits);
  const sale = useTokenSale({ offer, option, deployment, wallet, unfinishedSale, onDone });
  const { run } = sale;
  const blockers = useWalletBlockers(offer.id, option.id, deployment?.chain, wallet);
  if (deployment === undefined) return <Empty title="This sale isn't available on any network yet" />;
  if (run.state.step === 'done')
    return (
      <SaleDone {...{ offer, hashes: run.hashes }} participation={run.state.result} onAgain={run.reset} />
    );
  const isBusy = run.state.step === 'running';
  const isIdle = run.state.step === 'idle';
  const canBuy =
    wallet !== undefined && amount.units !== null && sale.isRegistered !== false && blockers.length === 0;
  return (
    <form
      className="cw-stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (canBuy && amount.units !== null) sale.buy(amount.units);
      }}
    >
      {isIdle && unfinished !== null && (
        <UnfinishedSaleNotice
          {...{ offer, unfinished, wallet }}
          onContinue={sale.resume}
          onDiscard={sale.discard}
        />
      )}
      {isIdle && unfinished === null && (
        <>
          <DeploymentFields choice={choice} disabled={false} />
          <WalletField {...{ wallet, protocol }} disabled={false} />
          {wallet !== undefined && sale.isRegistered === false && (
            <UnregisteredWalletNotice
              {...{ offer, optionId: option.id, wallet, registered: sale.registered }}
            />
          )}
          <BlockerNotice blockers={blockers} onProgress={() => undefined} />
          <AmountField {...{ amount, limits, hasWallet: wallet !== undefined }} disabled={false} />
          <SaleSummary {...{ offer, option, deployment }} units={amount.units} />
          {protocol === 'solana' && (
            <p className="cw-small cw-muted">
              Your wallet names the account that may take this amount. It is this sale's fund,{' '}
              <AddressText address={deployment.contract.address} />.
            </p>
          )}
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
        onRetry={unfinished === null ? sale.retry : sale.resume}
        retryLabel={unfinished === null ? 'Try again' : 'Continue'}
      />
    </form>
  );
}
