import { useState } from 'react';
import { CHAINS, isEvmChain } from '../../chains.ts';
import type { Causeway } from '../../client.ts';
import type { Wallet } from '../../flows/wallet.ts';
import { isSameAddress } from '../../same-address.ts';
import type { OfferDetails, Participation } from '../../wire.ts';
import { useCauseway } from '../context.ts';
import { AddressText } from '../ui/elements.tsx';
import { ErrorNotice } from '../ui/error-notice.tsx';
import { useUi } from '../ui/ui.tsx';
import { WalletField } from './checkout-fields.tsx';
import { RevokeButton } from './revoke-button.tsx';
import type { UnfinishedSale } from './unfinished-sale.ts';

/** Offers to finish a purchase that was approved but not recorded, after a reload or a failure. */
export function UnfinishedSaleNotice(props: {
  offer: OfferDetails;
  unfinished: UnfinishedSale;
  wallet: Wallet | undefined;
  onContinue(): void;
  /** Called instead if the service has the purchase after all. */
  onFound(participation: Participation): void;
  onDiscard(): void;
}) {
  const { cx, format, rich, t } = useUi();
  const { offer, unfinished, wallet, onContinue, onDiscard } = props;
  const causeway = useCauseway();
  const [error, setError] = useState<unknown>();
  const { amount, assetId, chain } = unfinished;
  const asset = offer.funding_assets.find(({ id }) => id === assetId);
  const approved = format.tokenAmount(amount, {
    decimals: asset?.fractional_digits ?? 0,
    code: asset?.code ?? assetId,
  });
  /** If the reply was lost, the service may have recorded the purchase, which then still needs its approval. */
  const isRecorded = async () => {
    const found = await findParticipation(causeway, offer, unfinished);
    if (found) props.onFound(found);
    return !!found;
  };
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
            {...{ offer, approval: { chain, assetId }, isNeeded: isRecorded }}
            wallet={isSameWallet ? wallet : undefined}
            onRevoked={onDiscard}
          />
        )}
        <button
          type="button"
          className={cx('cw-button cw-button-quiet')}
          onClick={() => isRecorded().then((isFound) => isFound || onDiscard(), setError)}
        >
          {t('Discard')}
        </button>
      </div>
      {error !== undefined && <ErrorNotice error={error} />}
    </div>
  );
}

/**
 * Finds the participation of a purchase by its approval. Without an approval, the purchase cannot have reached the
 * service.
 */
async function findParticipation(
  causeway: Causeway,
  { id: value }: OfferDetails,
  { amount, approvalHash }: UnfinishedSale,
): Promise<Participation | undefined> {
  const filters = [{ field: 'offer_id', op: '==', value }] as const;
  for await (const one of causeway.participations.list({ filters })) {
    if (one.amount !== amount) continue;
    const { transactions } = await causeway.participations.get(one.id, { include: 'transactions' });
    if (transactions?.approval_hash === approvalHash) return one;
  }
  return undefined;
}
