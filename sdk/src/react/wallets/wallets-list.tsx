import { type ReactNode, useState } from 'react';
import type { OptionAddress } from '../../wire.ts';
import { useCauseway } from '../context.ts';
import { useInvalidate } from '../hooks/use-query.ts';
import { useConnectedWallets } from '../hooks/use-user.ts';
import type { BlockProps } from '../ui/class-names.ts';
import { AddressText, Empty, Loading, Skeleton } from '../ui/elements.tsx';
import { ErrorNotice } from '../ui/error-notice.tsx';
import { listFallback } from '../ui/list-fallback.tsx';
import { useUi } from '../ui/ui.tsx';

export type WalletsListProps = BlockProps & {
  offerId: string;
  /** Limits the list to one option. */
  optionId?: string | undefined;
};

/**
 * Lists the wallets the user has connected to an offer, each with a button to remove it.
 *
 * @example
 * ```tsx
 * import { WalletsList } from '@causeway/sdk/react';
 *
 * function Wallets({ offerId }: { offerId: string }) {
 *   return <WalletsList offerId={offerId} />;
 * }
 * ```
 */
export function WalletsList({ offerId, optionId, className }: WalletsListProps): ReactNode {
  const { cx, t } = useUi();
  const { data, error, isLoading, refresh } = useConnectedWallets(offerId, { optionId });
  const fallback = listFallback({
    ...{ items: data, error, onRetry: refresh, className: cx('cw', className) },
    empty: <Empty title={t('No wallets connected')}>{t('Connect one when an offer asks for it.')}</Empty>,
  });
  if (fallback !== null) return fallback;
  return (
    <div className={cx('cw cw-card', className)}>
      {isLoading && <Loading>{t('Loading your wallets…')}</Loading>}
      <ul className={cx('cw-list')} aria-busy={isLoading}>
        {data?.map((one) => <WalletRow key={one.id} offerId={offerId} bound={one} />) ?? (
          <li className={cx('cw-list-row')} aria-hidden="true">
            <Skeleton height="2.9em" />
          </li>
        )}
      </ul>
    </div>
  );
}

const focusButton = (button: HTMLButtonElement | null) => button?.focus();

/** Asks for confirmation before removing the wallet, and moves the focus to the confirm button. */
function WalletRow({ offerId, bound }: { offerId: string; bound: OptionAddress }) {
  const { cx, format, t } = useUi();
  const causeway = useCauseway();
  const invalidate = useInvalidate();
  const [step, setStep] = useState<'idle' | 'confirming' | 'removing'>('idle');
  const [error, setError] = useState<unknown>(null);
  const remove = async () => {
    setStep('removing');
    setError(null);
    try {
      await causeway.wallets.remove(offerId, bound.id);
      invalidate('connectedWallets', 'requirementStatuses');
    } catch (failed) {
      setError(failed);
      setStep('idle');
    }
  };
  return (
    <li className={cx('cw-list-row cw-wrap')}>
      <div className="cw-grow">
        <p className={cx('cw-strong')}>
          <AddressText address={bound.address} />
        </p>
        <p className={cx('cw-muted cw-small')}>
          {bound.protocol === 'solana' ? 'Solana' : t('Ethereum and compatible')} ·{' '}
          {t('added {date}', { date: format.date(bound.created_at) })}
        </p>
      </div>
      {step === 'idle' ? (
        <button
          type="button"
          className={cx('cw-button cw-button-quiet')}
          onClick={() => setStep('confirming')}
        >
          {t('Remove')}
          <span className="cw-hidden"> {bound.address}</span>
        </button>
      ) : (
        <div className="cw-row">
          <button type="button" className={cx('cw-button cw-button-quiet')} onClick={() => setStep('idle')}>
            {t('Keep wallet')}
          </button>
          <button
            type="button"
            className={cx('cw-button cw-button-danger')}
            disabled={step === 'removing'}
            ref={focusButton}
            onClick={remove}
          >
            {t(step === 'removing' ? 'Removing…' : 'Remove wallet')}
          </button>
        </div>
      )}
      {error !== null && <ErrorNotice error={error} />}
    </li>
  );
}
