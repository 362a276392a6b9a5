import type { SwapResult } from '../../flows/outcome.ts';
import type { TokenizedOffer } from '../../offers.ts';
import { BlockerNotice } from '../identity/blocker-notice.tsx';
import { LivePriceNote, OpenApprovalNotice, ReviewSheet, SwapDone } from '../lazy-parts.tsx';
import type { BlockProps } from '../ui/class-names.ts';
import { Empty } from '../ui/elements.tsx';
import { useUi } from '../ui/ui.tsx';
import { AmountField, DeploymentFields, SlippageField, WalletField } from './checkout-fields.tsx';
import { CheckoutGate } from './checkout-gate.tsx';
import { FlowPanel } from './flow-panel.tsx';
import { MarketNotice, MarketPrice } from './market-price.tsx';
import { OrderForm, ReviewButton, useReview } from './order-form.tsx';
import { PriceTimer, TokenizedSummary, useReviewFacts } from './order-panel.tsx';
import { TOKENIZED_STEPS } from './phases.ts';
import { useDeployment } from './use-deployment.ts';
import { useOpenApprovals } from './use-open-approvals.ts';
import { useTokenizedPurchase } from './use-tokenized-purchase.ts';
import { QUOTE_INTERVAL_MS } from './use-trade-quote.ts';

const SLIPPAGE_BPS_CHOICES = [50, 100, 300];

export type TokenizedCheckoutProps = BlockProps & {
  offer: TokenizedOffer;
  /** Called when the purchase is confirmed. */
  onDone?: ((result: SwapResult) => void) | undefined;
};

/**
 * The checkout for a tokenized asset: market status and limits, live price, amount, approval, and an order that is
 * verified before the wallet sends it.
 *
 * @example
 * ```tsx
 * import { TokenizedCheckout, useOffer } from '@causeway/sdk/react';
 *
 * function Trade() {
 *   const { data: offer } = useOffer('apple-tokenized');
 *   if (offer?.type !== 'tokenized::swap') return null;
 *   return <TokenizedCheckout offer={offer} onDone={({ received }) => console.log(received)} />;
 * }
 * ```
 */
export function TokenizedCheckout({ offer, onDone, className }: TokenizedCheckoutProps) {
  const { cx, t } = useUi();
  const option = offer.options[0];
  const { deployment } = useDeployment(offer);
  return (
    <section className={cx('cw cw-card cw-checkout', className)}>
      <h2 className={cx('cw-title')}>{t('Buy {asset}', { asset: offer.asset.code })}</h2>
      {option === undefined || deployment === undefined ? (
        <Empty title={t("This asset can't be traded yet")} />
      ) : (
        <>
          <MarketPrice symbol={offer.asset.code} />
          <CheckoutGate offer={offer} optionId={option.id}>
            {(onBusy) => <TradeForm {...{ offer, onDone, onBusy }} />}
          </CheckoutGate>
        </>
      )}
    </section>
  );
}

function TradeForm({ offer, onDone, onBusy }: TokenizedCheckoutProps & { onBusy(isBusy: boolean): void }) {
  const { t } = useUi();
  const purchase = useTokenizedPurchase({ offer, onDone });
  const { choice, wallet, amount, limits, quote, isTradable, slippageBps, blockers, order, state } = purchase;
  const { deployment } = choice;
  const open = useOpenApprovals(offer, wallet);
  const [approval] = open.approvals;
  const live = useReviewFacts({ offer, deployment, purchase });
  const review = useReview(state.step, live, onBusy);
  const edit = () => {
    review.close();
    purchase.reset();
  };
  if (deployment === undefined) return null;
  if (state.step === 'done')
    return (
      <SwapDone
        result={state.result}
        paid={deployment}
        received={{ code: offer.asset.code, decimals: offer.asset.fractional_digits }}
        hashes={purchase.hashes}
        onAgain={() => {
          amount.setText('');
          edit();
        }}
      />
    );
  return (
    <OrderForm onReview={review.open}>
      {state.step === 'idle' && <MarketNotice symbol={offer.asset.code} error={quote.error} />}
      {state.step === 'idle' && !review.isReviewing ? (
        <>
          {approval !== undefined && (
            <OpenApprovalNotice
              {...{ offer, wallet, approval, choice, amount }}
              onRevoked={() => open.hide(approval)}
            />
          )}
          <DeploymentFields choice={choice} />
          <WalletField wallet={wallet} />
          <BlockerNotice blockers={blockers} onProgress={() => undefined} />
          <AmountField {...{ amount, limits, hasWallet: wallet !== undefined }} disabled={!isTradable} />
          <SlippageField
            value={slippageBps}
            choices={SLIPPAGE_BPS_CHOICES}
            onChange={purchase.setSlippageBps}
          />
          <TokenizedSummary {...{ offer, deployment, purchase }} />
          <ReviewButton units={amount.units} limits={limits} canReview={purchase.canBuy} />
        </>
      ) : (
        <ReviewSheet
          // Once there is a firm order, its amounts replace those of the quote that the user confirmed.
          facts={order === null || state.step === 'idle' ? review.facts : live}
          actions={
            review.isReviewing
              ? {
                  label: t('Buy {asset}', { asset: offer.asset.code }),
                  ...{ canConfirm: purchase.canBuy, onConfirm: purchase.buy, onEdit: edit },
                }
              : undefined
          }
        >
          {state.step === 'idle' ? (
            <LivePriceNote price={quote.data} intervalMs={QUOTE_INTERVAL_MS} />
          ) : (
            <PriceTimer order={order} phase={state.phase} />
          )}
        </ReviewSheet>
      )}
      <FlowPanel run={{ ...purchase, reset: edit }} steps={TOKENIZED_STEPS} onRetry={purchase.buy} />
    </OrderForm>
  );
}
