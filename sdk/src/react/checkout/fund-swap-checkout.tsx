import type { SwapResult } from '../../flows/outcome.ts';
import type { FundSwapOffer } from '../../offers.ts';
import { BlockerNotice } from '../identity/blocker-notice.tsx';
import {
  AllowWalletPanel,
  LivePriceNote,
  OpenApprovalNotice,
  ReviewSheet,
  SwapDone,
} from '../lazy-parts.tsx';
import type { BlockProps } from '../ui/class-names.ts';
import { Empty, Skeleton } from '../ui/elements.tsx';
import { ErrorNotice } from '../ui/error-notice.tsx';
import { useUi } from '../ui/ui.tsx';
import { AmountField, DeploymentFields, SlippageField, WalletField } from './checkout-fields.tsx';
import { CheckoutGate } from './checkout-gate.tsx';
import { FlowPanel } from './flow-panel.tsx';
import { FundSummary, outputUnit, useFundFacts } from './fund-summary.tsx';
import { OrderForm, ReviewButton, useReview } from './order-form.tsx';
import { FUND_SWAP_STEPS } from './phases.ts';
import type { Deployment, DeploymentChoice } from './use-deployment.ts';
import { PREVIEW_INTERVAL_MS } from './use-fund-preview.ts';
import { type FundSwapState, useFundSwap } from './use-fund-swap.ts';
import { useOpenApprovals } from './use-open-approvals.ts';

const SLIPPAGE_BPS_CHOICES = [10, 50, 100];

export type FundSwapCheckoutProps = BlockProps & {
  offer: FundSwapOffer;
  /** Called when the swap is confirmed. */
  onDone?: ((result: SwapResult) => void) | undefined;
};

/**
 * The checkout for a fund: requirements, allow-list, amount with a live preview, slippage, approval and swap.
 *
 * @example
 * ```tsx
 * import { FundSwapCheckout, useOffer } from '@causeway/sdk/react';
 *
 * function Swap() {
 *   const { data: offer } = useOffer('treasury-fund');
 *   if (offer?.type !== 'fund::swap') return null;
 *   return <FundSwapCheckout offer={offer} onDone={({ received }) => console.log(received)} />;
 * }
 * ```
 */
export function FundSwapCheckout({ offer, onDone, className }: FundSwapCheckoutProps) {
  const { cx, t } = useUi();
  const option = offer.options[0];
  return (
    <section className={cx('cw cw-card cw-checkout', className)}>
      <h2 className={cx('cw-title')}>{t('Swap into {asset}', { asset: offer.asset.code })}</h2>
      {option === undefined ? (
        <Empty title={t("This fund isn't open yet")} />
      ) : (
        <CheckoutGate offer={offer} optionId={option.id}>
          {(onBusy) => <FundForm {...{ offer, onDone, onBusy }} />}
        </CheckoutGate>
      )}
    </section>
  );
}

/**
 * Shows the swap form if the fund has not stopped swaps and nothing blocks the wallet. Once the user submits the form,
 * shows the review, the progress and the result.
 */
function FundForm({ offer, onDone, onBusy }: FundSwapCheckoutProps & { onBusy(isBusy: boolean): void }) {
  const { t } = useUi();
  const swap = useFundSwap({ offer, onDone });
  const { choice, wallet, status, authorization, blockers, state } = swap;
  const { deployment } = choice;
  const facts = useFundFacts({ ...swap, offer, deployment, preview: swap.preview.data });
  const review = useReview(state.step, facts, onBusy);
  const edit = () => {
    review.close();
    swap.reset();
  };
  if (deployment === undefined) return <Empty title={t("This fund isn't available on any network yet")} />;
  if (state.step === 'done')
    return (
      <SwapDone
        result={state.result}
        paid={deployment}
        received={outputUnit(offer, swap.output)}
        hashes={swap.hashes}
        onAgain={() => {
          swap.amount.setText('');
          edit();
        }}
      />
    );
  if (state.step !== 'idle' || review.isReviewing)
    return (
      <div className="cw-stack">
        <ReviewSheet
          facts={review.facts}
          actions={
            review.isReviewing
              ? { label: t('Swap'), canConfirm: swap.canSwap, onConfirm: swap.swap, onEdit: edit }
              : undefined
          }
        >
          {review.isReviewing && <LivePriceNote price={swap.preview.data} intervalMs={PREVIEW_INTERVAL_MS} />}
        </ReviewSheet>
        <FlowPanel run={{ ...swap, reset: edit }} steps={FUND_SWAP_STEPS} onRetry={swap.swap} />
      </div>
    );
  if (swap.isStopped) return <FundStopped choice={choice} />;
  const error = status.error ?? authorization.error;
  return (
    <div className="cw-stack">
      {error !== undefined && status.data === undefined && (
        <ErrorNotice error={error} onRetry={() => void status.refresh()} />
      )}
      {wallet !== undefined && authorization.data?.authorized === true && blockers.length === 0 ? (
        <SwapForm {...{ offer, deployment, swap }} onReview={review.open} />
      ) : (
        <>
          <DeploymentFields choice={choice} />
          <WalletField wallet={wallet} />
          {wallet !== undefined && authorization.data === undefined && <Skeleton height="7em" />}
          <BlockerNotice blockers={blockers} onProgress={() => undefined} />
          {wallet !== undefined && authorization.data?.authorized === false && blockers.length === 0 && (
            <AllowWalletPanel {...{ offer, wallet }} chain={deployment.chain} />
          )}
        </>
      )}
    </div>
  );
}

function FundStopped({ choice }: { choice: DeploymentChoice }) {
  const { cx, t } = useUi();
  return (
    <div className="cw-stack">
      <DeploymentFields choice={choice} />
      <div className={cx('cw-notice cw-tone-attention')} role="status">
        <p className={cx('cw-notice-title')}>{t('Swaps are paused')}</p>
        <p>{t("The fund has paused swaps on this network. We'll update this page when they resume.")}</p>
      </div>
    </div>
  );
}

type FormProps = { offer: FundSwapOffer; deployment: Deployment; swap: FundSwapState; onReview(): void };

function SwapForm({ offer, deployment, swap, onReview }: FormProps) {
  const { cx, t } = useUi();
  const { choice, wallet, amount, limits, slippageBps, preview, output, minReceive } = swap;
  const open = useOpenApprovals(offer, wallet);
  const [approval] = open.approvals;
  return (
    <OrderForm onReview={onReview}>
      {approval !== undefined && (
        <OpenApprovalNotice
          {...{ offer, wallet, approval, choice, amount }}
          onRevoked={() => open.hide(approval)}
        />
      )}
      <DeploymentFields choice={choice} />
      <WalletField wallet={wallet} />
      <AmountField {...{ amount, limits }} hasWallet />
      <SlippageField value={slippageBps} choices={SLIPPAGE_BPS_CHOICES} onChange={swap.setSlippageBps} />
      <FundSummary {...{ offer, deployment, output, minReceive }} preview={preview.data} />
      {preview.error !== undefined && (
        <ErrorNotice error={preview.error} onRetry={() => void preview.refresh()} />
      )}
      {swap.isPartial && (
        <label className={cx('cw-check')}>
          <input
            type="checkbox"
            checked={swap.allowPartial}
            onChange={(event) => swap.setAllowPartial(event.target.checked)}
          />
          {t('The fund can only take part of this right now. Swap that part.')}
        </label>
      )}
      <ReviewButton units={amount.units} limits={limits} canReview={swap.canSwap} />
    </OrderForm>
  );
}
