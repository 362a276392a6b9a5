import { type ReactNode, useEffect, useState } from 'react';
import { Countdown } from '../ui/countdown.tsx';
import { type Fact, FactList } from '../ui/fact-list.tsx';
import { useUi } from '../ui/ui.tsx';
import { useFocusOnMount } from '../ui/use-focus-on-mount.ts';

/** Tells the user that the price is live until they confirm, and when it will next update. */
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
