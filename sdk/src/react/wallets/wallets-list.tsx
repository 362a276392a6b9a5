import { useState } from 'react';
import type { OptionAddress } from '../../wire.ts';
import { useCauseway } from '../context.ts';
import { useInvalidate } from '../hooks/use-query.ts';
import { useConnectedWallets } from '../hooks/use-user.ts';
import { AddressText, Empty, Loading, Skeleton } from '../ui/elements.tsx';
import { ErrorNotice } from '../ui/error-notice.tsx';
import { formatDate } from '../ui/format.ts';

export type WalletsListProps = {
  offerId: string;
  /** Only those of one option. */
  optionId?: string | undefined;
};

/**
 * The wallets that the user has bound to an offer, each with the way to remove it.
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
export function WalletsList({ offerId, optionId }: WalletsListProps) {
  const { data, error, isLoading, refresh } = useConnectedWallets(offerId, { optionId });
  if (data === undefined && error !== undefined)
    return (
      <div className="cw">
        <ErrorNotice error={error} onRetry={refresh} />
      </div>
    );
  if (data?.length === 0)
    return (
      <div className="cw">
        <Empty title="No wallets bound">You bind one when an offer asks for it.</Empty>
      </div>
    );
  return (
    <div className="cw cw-card">
      {isLoading && <Loading what="your wallets" />}
      <ul className="cw-list" aria-busy={isLoading}>
        {data?.map((one) => <WalletRow key={one.id} offerId={offerId} bound={one} />) ?? (
          <li className="cw-list-row" aria-hidden="true">
            <Skeleton height="2.9em" />
          </li>
        )}
      </ul>
    </div>
  );
}

const takeFocus = (button: HTMLButtonElement | null) => button?.focus();

/** Asks once more before it removes; the second button has the focus. */
function WalletRow({ offerId, bound }: { offerId: string; bound: OptionAddress }) {
  const causeway = useCauseway();
  const invalidate = useInvalidate();
  const [step, setStep] = useState<'idle' | 'asking' | 'removing'>('idle');
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
    <li className="cw-list-row cw-wrap">
      <div className="cw-grow">
        <p className="cw-strong">
          <AddressText address={bound.address} />
        </p>
        <p className="cw-muted cw-small">
          {bound.protocol === 'solana' ? 'Solana' : 'Ethereum and compatible'} · since{' '}
          {formatDate(bound.created_at)}
        </p>
      </div>
      {step === 'idle' ? (
        <button type="button" className="cw-button cw-button-quiet" onClick={() => setStep('asking')}>
          Remove<span className="cw-hidden"> {bound.address}</span>
        </button>
      ) : (
        <div className="cw-row">
          <button type="button" className="cw-button cw-button-quiet" onClick={() => setStep('idle')}>
            Keep
          </button>
          <button
            type="button"
            className="cw-button cw-button-danger"
            disabled={step === 'removing'}
            ref={takeFocus}
            onClick={remove}
          >
            {step === 'removing' ? 'Removing…' : 'Remove it'}
          </button>
        </div>
      )}
      {error !== null && <ErrorNotice error={error} />}
    </li>
  );
}
