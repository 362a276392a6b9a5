import { useEffect, useId, useRef, useState } from 'react';
import type { Wallet } from '../../flows/wallet.ts';
import { useWallet } from '../hooks/use-wallet.ts';
import { AddressText, Spinner } from '../ui/elements.tsx';
import { useUi } from '../ui/ui.tsx';
import type { Protocol, WalletConnector } from './connector.ts';

export type ConnectWalletDialogProps = {
  protocol: Protocol;
  open: boolean;
  onClose(): void;
  onConnected?: ((wallet: Wallet) => void) | undefined;
};

const INSTALL_NOTE =
  "Install a wallet extension and reload this page, or open this page in your wallet app's browser.";

type Progress = { connector: WalletConnector; error: unknown | null } | null;

/**
 * Lets the user choose a wallet: detected extensions first, then the wallets passed to `CausewayProvider`. If the host
 * manages the connection and has its own dialog, opens that dialog instead.
 *
 * @example
 * ```tsx
 * import { ConnectWalletDialog } from '@causeway/sdk/react';
 * import { useState } from 'react';
 *
 * function Connect() {
 *   const [open, setOpen] = useState(false);
 *   return (
 *     <>
 *       <button type="button" onClick={() => setOpen(true)}>Connect wallet</button>
 *       <ConnectWalletDialog protocol="ethereum" open={open} onClose={() => setOpen(false)} />
 *     </>
 *   );
 * }
 * ```
 */
export function ConnectWalletDialog({ protocol, open, onClose, onConnected }: ConnectWalletDialogProps) {
  const { cx, t } = useUi();
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  const { wallet, connectors, connect, disconnect, openDialog } = useWallet(protocol);
  const [progress, setProgress] = useState<Progress>(null);
  const isHosted = openDialog !== undefined && wallet === undefined;
  useEffect(() => {
    const element = dialog.current;
    if (open && element?.open === false && !isHosted) element.showModal();
    if (!open && element?.open) element.close();
    setProgress(null);
    if (!open || !isHosted) return;
    openDialog();
    onClose();
  }, [open]);

  const choose = async (connector: WalletConnector) => {
    setProgress({ connector, error: null });
    try {
      const chosen = await connect(connector);
      onConnected?.(chosen);
      onClose();
    } catch (error) {
      setProgress({ connector, error });
    }
  };
  const use = () => {
    if (wallet !== undefined) onConnected?.(wallet);
    onClose();
  };
  return (
    <dialog
      ref={dialog}
      className={cx('cw cw-dialog')}
      aria-labelledby={titleId}
      onClose={onClose}
      onClick={(event) => event.target === dialog.current && dialog.current.close()}
      onKeyDown={(event) => event.stopPropagation()}
    >
      <div className="cw-dialog-head">
        <h2 className="cw-dialog-title" id={titleId}>
          {t(wallet === undefined ? 'Connect wallet' : 'Your wallet')}
        </h2>
        <button
          type="button"
          className={cx('cw-button cw-button-quiet')}
          onClick={() => dialog.current?.close()}
        >
          {t('Close')}
        </button>
      </div>
      {wallet === undefined ? (
        <Choices protocol={protocol} connectors={connectors} progress={progress} onChoose={choose} />
      ) : (
        <div className="cw-stack">
          <p className={cx('cw-panel')}>
            <AddressText address={wallet.address} />
          </p>
          {onConnected !== undefined && (
            <button type="button" className={cx('cw-button cw-button-main cw-button-wide')} onClick={use}>
              {t('Use this wallet')}
            </button>
          )}
          <button type="button" className={cx('cw-button cw-button-wide')} onClick={disconnect}>
            {t('Switch wallet')}
          </button>
        </div>
      )}
    </dialog>
  );
}

function Choices(props: {
  protocol: Protocol;
  connectors: readonly WalletConnector[];
  progress: Progress;
  onChoose(connector: WalletConnector): void;
}) {
  const { cx, t } = useUi();
  const { protocol, connectors, progress, onChoose } = props;
  const isBusy = progress !== null && progress.error === null;
  if (connectors.length === 0)
    return (
      <div className="cw-stack">
        <p className={cx('cw-strong')}>
          {t(
            protocol === 'solana'
              ? 'No Solana wallet found in this browser'
              : 'No wallet found in this browser',
          )}
        </p>
        <p className={cx('cw-muted')}>{t(INSTALL_NOTE)}</p>
      </div>
    );
  return (
    <div className="cw-stack">
      <ul className="cw-choices">
        {connectors.map((one) => (
          <li key={one.id}>
            <button type="button" className={cx('cw-choice')} disabled={isBusy} onClick={() => onChoose(one)}>
              {one.icon === undefined ? (
                <span className="cw-choice-icon" aria-hidden="true">
                  {one.name.charAt(0)}
                </span>
              ) : (
                <img className="cw-choice-icon" src={one.icon} alt="" width={36} height={36} />
              )}
              <span className="cw-grow">{one.name}</span>
              {isBusy && progress.connector.id === one.id && <Spinner />}
            </button>
          </li>
        ))}
      </ul>
      <p className={cx('cw-muted cw-small')} aria-live="polite">
        {isBusy
          ? t('Confirm the connection in {wallet}.', { wallet: progress.connector.name })
          : t('Connecting shares your address with this page. Nothing moves without your approval.')}
      </p>
      {progress !== null && progress.error !== null && (
        <p className={cx('cw-notice cw-tone-bad')} role="alert">
          {isRejection(progress.error)
            ? t('You declined the request in {wallet}. Choose a wallet to try again.', {
                wallet: progress.connector.name,
              })
            : t("{wallet} couldn't connect. Unlock it and try again.", { wallet: progress.connector.name })}
        </p>
      )}
    </div>
  );
}

/** Returns whether the user declined the request (code 4001 in EIP-1193), even if a library wrapped the error. */
function isRejection(error: unknown): boolean {
  for (let one = error; one instanceof Object; one = (one as { cause?: unknown }).cause)
    if ([4001, 'user_rejected'].includes((one as { code?: string | number }).code ?? '')) return true;
  return false;
}
