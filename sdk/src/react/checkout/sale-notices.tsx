import { CHAINS } from '../../chains.ts';
import type { Wallet } from '../../flows/wallet.ts';
import { isSameAddress } from '../../same-address.ts';
import type { OfferDetails, OptionAddress } from '../../wire.ts';
import { AddressText } from '../ui/elements.tsx';
import { useUi } from '../ui/ui.tsx';
import { WalletStep } from '../wallets/wallet-step.tsx';
import { WalletField } from './checkout-fields.tsx';
import type { UnfinishedSale } from './unfinished-sale.ts';

/**
 * Asks the user to register a wallet before approving, because the service rejects purchases from
 * unregistered wallets.
 */
export function UnregisteredWalletNotice(props: {
  offer: OfferDetails;
  optionId: string;
  wallet: Wallet;
  registered: readonly OptionAddress[];
}) {
  const { cx, rich, t } = useUi();
  const { offer, optionId, wallet, registered } = props;
  return (
    <div className={cx('cw-notice cw-tone-attention')}>
      <p className={cx('cw-notice-title')}>{t("This wallet isn't registered for this option")}</p>
      <p>
        {rich('Switch to {registered}, or register {wallet} too.', {
          registered: registered.map(({ id, address }, index) => (
            <span key={id}>
              {index > 0 && ` ${t('or')} `}
              <AddressText address={address} />
            </span>
          )),
          wallet: <AddressText address={wallet.address} />,
        })}
      </p>
      <WalletStep
        {...{ offer, optionId, wallet }}
        protocol={wallet.protocol}
        maximum={1}
        status={{ status: 'not_started' }}
        isNext={false}
        onProgress={() => undefined}
      />
    </div>
  );
}

/** Offers to finish a purchase that was approved but not recorded, after a reload or a failure. */
export function UnfinishedSaleNotice(props: {
  offer: OfferDetails;
  unfinished: UnfinishedSale;
  wallet: Wallet | undefined;
  onContinue(): void;
  onDiscard(): void;
}) {
  const { cx, format, rich, t } = useUi();
  const { offer, unfinished, wallet, onContinue, onDiscard } = props;
  const { amount, assetId, chain } = unfinished;
  const asset = offer.funding_assets.find(({ id }) => id === assetId);
  const approved = format.tokenAmount(amount, {
    decimals: asset?.fractional_digits ?? 0,
    code: asset?.code ?? assetId,
  });
  const isSameWallet = wallet !== undefined && isSameAddress(wallet.address, unfinished.wallet);
  return (
    <div className={cx('cw-notice cw-tone-attention cw-stack')} role="status">
      <p className={cx('cw-notice-title')}>{t('You have an unfinished purchase')}</p>
      <p>
        {t('You approved {amount} on {network}. Continue to finish it without another approval.', {
          ...{ amount: approved, network: CHAINS[chain].name },
        })}
      </p>
      {!isSameWallet && (
        <>
          <p>
            {rich('Connect the wallet {wallet} to continue.', {
              wallet: <AddressText address={unfinished.wallet} />,
            })}
          </p>
          <WalletField {...{ wallet, protocol: CHAINS[chain].protocol }} disabled={false} />
        </>
      )}
      <div className="cw-row cw-wrap">
        <button
          type="button"
          className={cx('cw-button cw-button-main')}
          disabled={!isSameWallet}
          onClick={onContinue}
        >
          {t('Continue')}
        </button>
        <button type="button" className={cx('cw-button cw-button-quiet')} onClick={onDiscard}>
          {t('Discard')}
        </button>
      </div>
    </div>
  );
}
