import type { Wallet } from '../../flows/wallet.ts';
import type { OfferDetails, OptionAddress } from '../../wire.ts';
import { AddressText } from '../ui/elements.tsx';
import { useUi } from '../ui/ui.tsx';
import { WalletStep } from '../wallets/wallet-step.tsx';

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
      {/* Each wallet gets a new step: the user may decline to sign with one wallet and switch to another. */}
      <WalletStep
        key={wallet.address}
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
