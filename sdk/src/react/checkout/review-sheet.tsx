import { type ReactNode, useEffect, useRef, useState } from 'react';
import { Countdown } from '../ui/countdown.tsx';
import { type Fact, FactList } from '../ui/fact-list.tsx';
import { useUi } from '../ui/ui.tsx';
import { useFocusOnMount } from '../ui/use-focus-on-mount.ts';
import type { Limits } from './use-amount.ts';

/**
 * Whether the sheet is open, and the facts that it shows: live until the user confirms, then as confirmed. The sheet
 * stays open while the flow runs, and closes when the flow returns to idle.
 */
export function useReview(step: 'idle' | 'running' | 'failed' | 'done', live: readonly Fact[]) {
  const [isOpen, setIsOpen] = useState(false);
  const [lastStep, setLastStep] = useState(step);
  const facts = useRef(live);
  if (step === 'idle') facts.current = live;
  if (step !== lastStep) {
    setLastStep(step);
    if (step === 'idle') setIsOpen(false);
  }
  return {
    isOpen,
    isReviewing: isOpen && step === 'idle',
    facts: facts.current,
    open: () => setIsOpen(true),
    close: () => setIsOpen(false),
  };
}

/** The form of an order, which opens the sheet instead of being submitted. */
export function OrderForm({ onReview, children }: { onReview(): void; children: ReactNode }) {
  return (
    <form
      className="cw-stack"
      onSubmit={(event) => {
        event.preventDefault();
        onReview();
      }}
    >
      {children}
    </form>
  );
}

/** Opens the sheet. On phones the button stays in view, with the amount above it. */
export function ReviewButton(props: { units: bigint | null; limits: Limits; canReview: boolean }) {
  const { cx, format, t } = useUi();
  const { units, limits, canReview } = props;
  return (
    <div className="cw-actions">
      <p className="cw-actions-amount" aria-hidden="true">
        {units !== null && format.shortAmount(units, limits)}
      </p>
      <button type="submit" className={cx('cw-button cw-button-main cw-button-wide')} disabled={!canReview}>
        {t('Review order')}
      </button>
    </div>
  );
}

/** Says that the price changes until the user confirms, and when it does next. */
export function LivePriceNote({ price, intervalMs }: { price: object | undefined; intervalMs: number }) {
  const { cx, t } = useUi();
  const [next, setNext] = useState<string>();
  useEffect(() => {
    if (price !== undefined) setNext(new Date(Date.now() + intervalMs).toISOString());
  }, [price, intervalMs]);
  return (
    <p className={cx('cw-muted cw-small')}>
      {t('The price is live. You never receive less than the minimum.')}{' '}
      {next !== undefined && (
        <Countdown to={next} label={t('New price in')} over={t('Updating the price…')} />
      )}
    </p>
  );
}

type Actions = { label: string; canConfirm: boolean; onConfirm(): void; onEdit(): void };

/** Shows the order: with `actions` before the wallet opens, and without them while the purchase runs. */
export function ReviewSheet(props: {
  facts: readonly Fact[];
  actions?: Actions | undefined;
  children?: ReactNode;
}) {
  const { cx, t } = useUi();
  const { facts, actions, children } = props;
  const sheet = useFocusOnMount<HTMLDivElement>();
  return (
    <div className={cx('cw-panel cw-stack cw-focused')} data-review="" ref={sheet} tabIndex={-1}>
      <p className={cx('cw-strong')}>{t('Your order')}</p>
      <FactList className="cw-summary" facts={facts} />
      {children}
      {actions !== undefined && (
        <div className="cw-actions">
          <p className="cw-actions-amount" aria-hidden="true">
            {facts[0]?.[1]}
          </p>
          <button
            type="button"
            className={cx('cw-button cw-button-main cw-button-wide')}
            disabled={!actions.canConfirm}
            onClick={actions.onConfirm}
          >
            {actions.label}
          </button>
          <button
            type="button"
            className={cx('cw-button cw-button-quiet cw-button-wide')}
            onClick={actions.onEdit}
          >
            {t('Edit order')}
          </button>
        </div>
      )}
    </div>
  );
}
