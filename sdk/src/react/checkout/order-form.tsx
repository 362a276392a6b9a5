import { type ReactNode, useEffect, useRef, useState } from 'react';
import { loadParts } from '../load-parts.ts';
import { ErrorNotice } from '../ui/error-notice.tsx';
import type { Fact } from '../ui/fact-list.tsx';
import { useUi } from '../ui/ui.tsx';
import type { Limits } from './use-amount.ts';

/**
 * Returns whether the review sheet is open, and the facts that it shows. While the flow is idle, these are the current
 * facts (`live`); after that, the facts that the user confirmed. The sheet closes when the flow returns to idle. Calls
 * `onBusy` when the flow leaves idle or returns to it.
 */
export function useReview(
  step: 'idle' | 'running' | 'failed' | 'done',
  live: readonly Fact[],
  onBusy: (isBusy: boolean) => void,
) {
  const [isOpen, setIsOpen] = useState(false);
  const [lastStep, setLastStep] = useState(step);
  const facts = useRef(live);
  useEffect(() => onBusy(step !== 'idle'), [step, onBusy]);
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

/**
 * The order form. Submitting it opens the review sheet. If the sheet cannot be loaded, the form stays and shows the
 * error.
 */
export function OrderForm({ onReview, children }: { onReview(): void; children: ReactNode }) {
  const [error, setError] = useState<unknown>(null);
  return (
    <form
      className="cw-stack"
      onSubmit={(event) => {
        event.preventDefault();
        setError(null);
        loadParts().then(onReview, setError);
      }}
    >
      {children}
      {error !== null && <ErrorNotice error={error} />}
    </form>
  );
}

/** Opens the review sheet. On phones the button stays in view, with the amount above it. */
export function ReviewButton(props: { units: bigint | null; limits: Limits; canReview: boolean }) {
  const { cx, format, t } = useUi();
  const { units, limits, canReview } = props;
  return (
    <div className="cw-actions">
      <p className="cw-actions-amount" aria-hidden="true">
        {units !== null && format.tokenAmount(units, limits)}
      </p>
      <button type="submit" className={cx('cw-button cw-button-main cw-button-wide')} disabled={!canReview}>
        {t('Review order')}
      </button>
    </div>
  );
}
