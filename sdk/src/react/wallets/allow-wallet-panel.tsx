import type { EvmWallet } from '../../flows/wallet.ts';
import type { EvmChain, OfferDetails } from '../../wire.ts';
import { AddressText, Spinner } from '../ui/elements.tsx';
import { ErrorNotice } from '../ui/error-notice.tsx';
import { useUi } from '../ui/ui.tsx';
import { useAllowWallet } from './use-allow-wallet.ts';
import { ALLOW_PHASES } from './wallet-phases.ts';

const ALLOW_NOTE =
  "Only verified investors' wallets can hold this fund. To allow {wallet}, sign a message and send one transaction. A network fee applies.";

/** Adds a wallet to the fund's allow-list with one signature and one transaction. */
export function AllowWalletPanel(props: { offer: OfferDetails; wallet: EvmWallet; chain: EvmChain }) {
  const { cx, rich, t } = useUi();
  const { offer, wallet, chain } = props;
  const { state, allow } = useAllowWallet({ offer, wallet, chain });
  const isBusy = state.step === 'running';
  return (
    <div className={cx('cw-notice cw-tone-attention cw-stack')}>
      <p className={cx('cw-notice-title')}>{t("Your wallet isn't allowed yet")}</p>
      <p>{rich(ALLOW_NOTE, { wallet: <AddressText address={wallet.address} /> })}</p>
      <button type="button" className={cx('cw-button cw-button-main')} disabled={isBusy} onClick={allow}>
        {t('Allow this wallet')}
      </button>
      <p className="cw-progress-text" role="status">
        {isBusy && (
          <>
            <Spinner /> {t(state.phase === undefined ? 'Starting…' : ALLOW_PHASES[state.phase])}
          </>
        )}
        {state.step === 'done' && t('Wallet allowed. One moment…')}
      </p>
      {state.step === 'failed' && <ErrorNotice error={state.error} onRetry={allow} />}
    </div>
  );
}
