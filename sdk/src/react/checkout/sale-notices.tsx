import { CHAINS } from '../../chains.ts';
import type { Wallet } from '../../flows/wallet.ts';
import { isSameAddress } from '../../same-address.ts';
import type { OfferDetails, OptionAddress } from '../../wire.ts';
import { AddressText } from '../ui/elements.tsx';
import { formatTokenAmount } from '../ui/format.ts';
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
  const { offer, optionId, wallet, registered } = props;
  return (
    <div className="cw-notice cw-tone-attention">
      <p className="cw-notice-title">This wallet isn't registered for this option</p>
      <p>
        Switch to{' '}
        {registered.map(({ id, address }, index) => (
          <span key={id}>
            {index > 0 && ' or '}
            <AddressText address={address} />
          </span>
        ))}
        , or register <AddressText address={wallet.address} /> too.
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
  const { offer, unfinished, wallet, onContinue, onDiscard } = props;
  const { amount, assetId, chain } = unfinished;
  const asset = offer.funding_assets.find(({ id }) => id === assetId);
  const approved = formatTokenAmount(amount, {
    decimals: asset?.fractional_digits ?? 0,
    code: asset?.code ?? assetId,
  });
  const isSameWallet = wallet !== undefined && isSameAddress(wallet.address, unfinished.wallet);
  return (
    <div className="cw-notice cw-tone-attention cw-stack" role="status">
      <p className="cw-notice-title">You have an unfinished purchase</p>
      <p>
        You approved {approved} on {CHAINS[chain].name}. Continue to finish it without another approval.
      </p>
      {!isSameWallet && (
        <>
          <p>
            Connect the wallet <AddressText address={unfinished.wallet} /> to continue.
          </p>
          <WalletField {...{ wallet, protocol: CHAINS[chain].protocol }} disabled={false} />
        </>
      )}
      <div className="cw-row cw-wrap">
        <button
          type="button"
          className="cw-button cw-button-main"
          disabled={!isSameWallet}
          onClick={onContinue}
        >
          Continue
        </button>
        <button type="button" className="cw-button cw-button-quiet" onClick={onDiscard}>
          Discard
        </button>
      </div>
    </div>
  );
}
