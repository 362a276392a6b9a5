import { useEffect, useRef, useState } from 'react';
import type { Wallet } from '../../flows/wallet.ts';
import type { DescribedStatus } from '../../requirements.ts';
import type { OfferDetails } from '../../wire.ts';
import { useConnectedWallets } from '../hooks/use-user.ts';
import type { StepGuide } from '../identity/use-guide.ts';
import { AddressText, Spinner } from '../ui/elements.tsx';
import { ErrorNotice } from '../ui/error-notice.tsx';
import type { Message } from '../ui/messages.ts';
import { useUi } from '../ui/ui.tsx';
import { ConnectWalletDialog } from './connect-wallet-dialog.tsx';
import type { Protocol } from './connector.ts';
import { useBindWallet } from './use-bind-wallet.ts';
import { BIND_PHASES } from './wallet-phases.ts';

type Props = {
  offer: OfferDetails;
  optionId: string;
  protocol: Protocol;
  /** How many wallets the option accepts; 0 if another requirement sets the limit. */
  maximum: number;
  /** The wallet to bind. If omitted, the user chooses one. */
  wallet?: Wallet | undefined;
  status: DescribedStatus;
  guide?: StepGuide | undefined;
  isNext: boolean;
  onProgress(): void;
};

/** Lets the user connect a wallet and prove ownership with a signature, then binds the wallet to the option. */
export function WalletStep(props: Props) {
  const { cx, t } = useUi();
  const { offer, optionId, protocol, maximum, wallet, status, guide, isNext, onProgress } = props;
  const [isChoosing, setIsChoosing] = useState(false);
  const hasChosen = useRef(false);
  const { bind, state, wallet: chosen } = useBindWallet({ offer, optionId, onDone: onProgress });
  const choose = () => {
    hasChosen.current = false;
    setIsChoosing(true);
  };
  const start = (one: Wallet | undefined) => {
    guide?.onStart();
    if (one === undefined) choose();
    else bind(one);
  };
  useEffect(() => {
    if (guide?.isStarting) choose();
  }, [guide?.isStarting]);
  useEffect(() => {
    if (state.step === 'failed') guide?.onStop();
  }, [state.step]);
  const { data: bound = [] } = useConnectedWallets(offer.id, {
    optionId,
    enabled: status.status === 'completed',
  });
  const mine = bound.filter((one) => one.protocol === protocol);
  const isDone = status.status === 'completed';
  const isBusy = state.step === 'running';
  const isRetry = state.step === 'failed' && chosen !== undefined;
  const canAdd = isRetry ? wallet === undefined : !isDone || maximum === 1 || mine.length < maximum;
  return (
    <div className="cw-requirement-step">
      {isDone && mine.length > 0 && (
        <p className={cx('cw-small cw-row cw-wrap')}>
          {mine.map(({ id, address }) => (
            <span key={id} className={cx('cw-chip')}>
              <AddressText address={address} />
            </span>
          ))}
          {maximum > 1 && (
            <span className={cx('cw-muted')}>
              {t('{count} of {maximum}', { count: mine.length, maximum })}
            </span>
          )}
        </p>
      )}
      {state.step === 'failed' && (
        <ErrorNotice
          error={state.error}
          retryLabel={t('Sign again')}
          onRetry={chosen && (() => start(chosen))}
        />
      )}
      {canAdd && (
        <button
          type="button"
          className={cx(
            `cw-button ${isDone || isRetry ? 'cw-button-quiet' : isNext ? 'cw-button-main' : ''}`,
          )}
          disabled={isBusy}
          onClick={() => start(wallet)}
        >
          {t(labelOf(isRetry || isDone, isRetry ? 1 : maximum, wallet))}
        </button>
      )}
      <p className={cx('cw-small cw-progress-text')} role="status">
        {isBusy && (
          <>
            <Spinner /> {t(state.phase === undefined ? 'Starting…' : BIND_PHASES[state.phase])}
          </>
        )}
      </p>
      <ConnectWalletDialog
        protocol={protocol}
        open={isChoosing}
        onClose={() => {
          if (!hasChosen.current) guide?.onStop();
          setIsChoosing(false);
        }}
        onConnected={(one) => {
          hasChosen.current = true;
          bind(one);
        }}
      />
    </div>
  );
}

function labelOf(isDone: boolean, maximum: number, wallet: Wallet | undefined): Message {
  if (wallet !== undefined) return 'Register this wallet';
  if (!isDone) return 'Connect wallet';
  return maximum > 1 ? 'Add another wallet' : 'Use a different wallet';
}
