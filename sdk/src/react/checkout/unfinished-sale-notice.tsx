import { useState } from 'react';
import { CHAINS, isEvmChain } from '../../chains.ts';
import type { Wallet } from '../../flows/wallet.ts';
import { isSameAddress } from '../../same-address.ts';
import type { OfferDetails } from '../../wire.ts';
import { AddressText } from '../ui/elements.tsx';
import { ErrorNotice } from '../ui/error-notice.tsx';
import { useUi } from '../ui/ui.tsx';
import { WalletField } from './checkout-fields.tsx';
import { RevokeButton } from './revoke-button.tsx';
import type { UnfinishedSale } from './unfinished-sale.ts';

/**
 * Lets the user finish a purchase that is approved but has no participation yet, for example because the user reloaded
 * the page.
 */
export function UnfinishedSaleNotice(props: {
  offer: OfferDetails;
  unfinished: UnfinishedSale;
  wallet: Wallet | undefined;
  onContinue(): void;
  onDiscard(work?: () => Promise<unknown>): Promise<void>;
}) {
  const { cx, format, rich, t } = useUi();
  const { offer, unfinished, wallet, onContinue, onDiscard } = props;
  const [error, setError] = useState<unknown>();
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
          <WalletField {...{ wallet, protocol: CHAINS[chain].protocol }} />
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
        {isEvmChain(chain) && (
          <RevokeButton
            {...{ offer, approval: { chain, assetId } }}
            wallet={isSameWallet ? wallet : undefined}
            run={onDiscard}
          />
        )}
        <button
          type="button"
          className={cx('cw-button cw-button-quiet')}
          onClick={() => onDiscard().catch(setError)}
        >
          {t('Discard')}
        </button>
      </div>
      {error !== undefined && <ErrorNotice error={error} />}
    </div>
  );
}
