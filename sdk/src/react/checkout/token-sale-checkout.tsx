import { useEffect, useState } from 'react';
import type { TokenSaleOffer } from '../../offers.ts';
import type { Participation } from '../../wire.ts';
import { BlockerNotice } from '../identity/blocker-notice.tsx';
import {
  OpenApprovalNotice,
  ReviewSheet,
  SaleDone,
  UnfinishedSaleNotice,
  UnregisteredWalletNotice,
} from '../lazy-parts.tsx';
import type { BlockProps } from '../ui/class-names.ts';
import { AddressText, Empty } from '../ui/elements.tsx';
import { useUi } from '../ui/ui.tsx';
import { AmountField, DeploymentFields, WalletField } from './checkout-fields.tsx';
import { CheckoutGate } from './checkout-gate.tsx';
import { FlowPanel } from './flow-panel.tsx';
import { OptionPicker } from './option-picker.tsx';
import { OrderForm, ReviewButton, useReview } from './order-form.tsx';
import { TOKEN_SALE_STEPS } from './phases.ts';
import { SaleSummary, useSaleFacts } from './sale-summary.tsx';
import { useTokenSale } from './use-token-sale.ts';

const SOLANA_NOTE = "The approval is for this sale's fund, {address}.";

export type TokenSaleCheckoutProps = BlockProps & {
  offer: TokenSaleOffer;
  /** The option to preselect; the user can select another one. Default: the first option. */
  optionId?: string | undefined;
  onOptionChange?: ((optionId: string) => void) | undefined;
  /** Called when the participation is recorded. */
  onDone?: ((participation: Participation) => void) | undefined;
};

/**
 * The checkout for a token sale: option, requirements, network, asset, amount, approval, and the participation with its
 * live status. A purchase that was interrupted after its approval can be resumed, even after a reload.
 *
 * @example
 * ```tsx
 * import { TokenSaleCheckout, useOffer } from '@causeway/sdk/react';
 *
 * function Invest() {
 *   const { data: offer } = useOffer('harbour-quarter');
 *   if (offer?.type !== 'platform::token_sale') return null;
 *   return <TokenSaleCheckout offer={offer} onDone={({ id }) => console.log(id)} />;
 * }
 * ```
 */
export function TokenSaleCheckout(props: TokenSaleCheckoutProps) {
  const { cx, t } = useUi();
  const { offer, optionId, onOptionChange, onDone, className } = props;
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
    <section className={cx('cw cw-card cw-checkout', className)}>
      <h2 className={cx('cw-title')}>{t('Invest')}</h2>
      {option === undefined ? (
        <Empty title={t('Nothing to invest in yet')}>{t('Please choose another offer.')}</Empty>
      ) : (
        <>
          {offer.options.length > 1 && <OptionPicker offer={offer} value={option.id} onChange={choose} />}
          <CheckoutGate offer={offer} optionId={option.id} key={option.id}>
            {(onBusy) => <SaleForm {...{ offer, option, onDone, onBusy }} />}
          </CheckoutGate>
        </>
      )}
    </section>
  );
}

type FormProps = {
  offer: TokenSaleOffer;
  option: TokenSaleOffer['options'][number];
  onDone: ((participation: Participation) => void) | undefined;
  onBusy(isBusy: boolean): void;
};

function SaleForm({ offer, option, onDone, onBusy }: FormProps) {
  const { cx, rich, t } = useUi();
  const sale = useTokenSale({ offer, optionId: option.id, onDone });
  const { state, hashes, choice, protocol, wallet, amount, limits, blockers, unfinished, canBuy } = sale;
  const { openApproval } = sale;
  const { deployment } = choice;
  const facts = useSaleFacts({ offer, option, deployment, wallet, units: amount.units });
  const review = useReview(state.step, facts, onBusy);
  if (deployment === undefined) return <Empty title={t("This sale isn't available on any network yet")} />;
  const { participation } = sale;
  if (participation !== undefined)
    return (
      <SaleDone
        // A resumed purchase may be for a different option.
        option={offer.options.find(({ id }) => id === participation.offer_option_id) ?? option}
        {...{ offer, hashes, participation }}
        onAgain={() => {
          amount.setText('');
          sale.reset();
        }}
      />
    );
  const isIdle = state.step === 'idle';
  const isReviewing = review.isReviewing && unfinished === null;
  const edit = () => {
    review.close();
    sale.reset();
  };
  return (
    <OrderForm onReview={review.open}>
      {isIdle && unfinished !== null && (
        <UnfinishedSaleNotice
          {...{ offer, unfinished, wallet }}
          onContinue={sale.resume}
          onDiscard={sale.discard}
        />
      )}
      {isIdle && unfinished === null && !isReviewing && (
        <>
          {openApproval !== undefined && (
            <OpenApprovalNotice
              {...{ offer, wallet, approval: openApproval, choice, amount }}
              onRevoked={sale.hideOpenApproval}
            />
          )}
          <DeploymentFields choice={choice} />
          <WalletField {...{ wallet, protocol }} />
          {wallet !== undefined && sale.isRegistered === false && (
            <UnregisteredWalletNotice
              {...{ offer, optionId: option.id, wallet, registered: sale.registered }}
            />
          )}
          <BlockerNotice blockers={blockers} onProgress={() => undefined} />
          <AmountField {...{ amount, limits, hasWallet: wallet !== undefined }} />
          <SaleSummary {...{ offer, option, deployment }} units={amount.units} />
          {protocol === 'solana' && (
            <p className={cx('cw-small cw-muted')}>
              {rich(SOLANA_NOTE, { address: <AddressText address={deployment.contract.address} /> })}
            </p>
          )}
          <ReviewButton units={amount.units} limits={limits} canReview={canBuy} />
        </>
      )}
      {(isReviewing || (!isIdle && review.isOpen)) && (
        <ReviewSheet
          facts={review.facts}
          actions={
            isReviewing
              ? { label: t('Invest'), canConfirm: canBuy, onConfirm: sale.buy, onEdit: edit }
              : undefined
          }
        />
      )}
      <FlowPanel
        run={{ ...sale, reset: edit }}
        steps={TOKEN_SALE_STEPS}
        onRetry={sale.retry}
        retryLabel={t(unfinished === null ? 'Try again' : 'Continue')}
      />
    </OrderForm>
  );
}
