import type { AllowWalletPhase, WalletIsAllowed } from '../../flows/allow-wallet.ts';
import type { EvmWallet } from '../../flows/wallet.ts';
import type { EvmChain, OfferDetails } from '../../wire.ts';
import { ALLOW_PHASES } from '../checkout/phases.ts';
import { useFlow } from '../checkout/use-flow.ts';
import { useCauseway } from '../context.ts';
import { useInvalidate } from '../hooks/use-query.ts';
import { AddressText, Spinner } from '../ui/elements.tsx';
import { ErrorNotice } from '../ui/error-notice.tsx';

/** Puts a wallet onto the fund's allow-list: a signature, then a transaction. */
export function AllowWalletPanel(props: { offer: OfferDetails; wallet: EvmWallet; chain: EvmChain }) {
  const { offer, wallet, chain } = props;
  const causeway = useCauseway();
  const invalidate = useInvalidate();
  const { state, start } = useFlow<AllowWalletPhase, WalletIsAllowed>();
  const allow = () =>
    start(async (flows, options) => {
      const result = await flows.allowWallet(causeway, { offerId: offer.id, chain, wallet }, options);
      invalidate('walletAuthorization');
      return result;
    });
  const isBusy = state.step === 'running';
  return (
    <div className="cw-notice cw-tone-attention cw-stack">
      <p className="cw-notice-title">Your wallet is not allowed yet</p>
      <p>
        Only wallets of verified investors may hold this fund. Allow <AddressText address={wallet.address} />{' '}
        once: you sign a text and send one transaction, which costs a network fee.
      </p>
      <button type="button" className="cw-button cw-button-main" disabled={isBusy} onClick={allow}>
        Allow this wallet
      </button>
      <p className="cw-progress-words" role="status">
        {isBusy && (
          <>
            <Spinner /> {state.phase === undefined ? 'Starting…' : ALLOW_PHASES[state.phase]}
          </>
        )}
        {state.step === 'done' && 'Allowed. One moment…'}
      </p>
      {state.step === 'failed' && <ErrorNotice error={state.error} onRetry={allow} />}
    </div>
  );
}
