import { CHAINS, formatAmount, type Offer } from '@causeway/sdk';
import {
  ErrorNotice,
  Skeleton,
  useConnectedWallets,
  useOffer,
  useOffers,
  useTokenBalance,
  useWallet,
  WalletsList,
} from '@causeway/sdk/react';
import { useApp } from '../app-context.tsx';
import type { ChainConfig } from '../config.ts';
import { Link, useTitle } from '../route.tsx';
import { useFaucet } from './faucet-bar.tsx';

export function WalletsScreen() {
  const { config } = useApp();
  useTitle('Wallets');
  return (
    <>
      <div className="screen-head">
        <h1>Wallets</h1>
        <p className="soft">
          The wallet that this page uses, and those that you have proven to be yours for an offer.
        </p>
      </div>
      {config.chains.length > 0 && <Balances chains={config.chains} />}
      <BoundWallets />
    </>
  );
}

function Balances({ chains }: { chains: readonly ChainConfig[] }) {
  const { wallet } = useWallet('ethereum');
  const { isBusy, said, fill } = useFaucet();
  const assets = ['usd-coin', 'tether'];
  return (
    <section className="panel">
      <header>
        <h2>In use</h2>
        {wallet !== undefined && (
          <button
            type="button"
            className="button"
            disabled={isBusy}
            onClick={() => fill(chains, wallet.address, assets)}
          >
            {isBusy ? 'On its way…' : 'Get test money'}
          </button>
        )}
      </header>
      {wallet === undefined ? (
        <p className="soft">No wallet is connected to this page. Use the button at the top.</p>
      ) : (
        <>
          <code className="whole-address">{wallet.address}</code>
          <p role="status" className="faucet-said">
            {said}
          </p>
          <div className="balances">
            {chains.map((chain) => (
              <table key={chain.chain}>
                <caption>{CHAINS[chain.chain].name}</caption>
                <tbody>
                  {chain.tokens.map((token) => (
                    <BalanceRow key={token.address} chain={chain} token={token} owner={wallet.address} />
                  ))}
                </tbody>
              </table>
            ))}
          </div>
        </>
      )}
    </section>
  );
}

type RowProps = { chain: ChainConfig; token: ChainConfig['tokens'][number]; owner: string };

function BalanceRow({ chain: { chain }, token, owner }: RowProps) {
  const { data, error } = useTokenBalance({ chain, token_address: token.address, owner }, { every: 15_000 });
  return (
    <tr>
      <th scope="row">{token.code}</th>
      <td>
        {data !== undefined ? (
          grouped(formatAmount(data.balance, token.decimals))
        ) : error ? (
          'not known now'
        ) : (
          <Skeleton width="8ch" />
        )}
      </td>
    </tr>
  );
}

function BoundWallets() {
  const { data: offers, error, refresh } = useOffers();
  if (error !== undefined && offers === undefined) return <ErrorNotice error={error} onRetry={refresh} />;
  const withWallets = offers?.filter(({ type }) => type === 'platform::token_sale') ?? [];
  return (
    <section className="bound">
      <h2>Connected to offers</h2>
      <p className="soft">
        You connect a wallet on the page of an offer that asks for one: sign a message there, and it is
        proven.
      </p>
      {offers === undefined ? (
        <Skeleton height="6rem" />
      ) : (
        withWallets.map((offer) => <OfferWallets key={offer.id} offer={offer} />)
      )}
    </section>
  );
}

function OfferWallets({ offer }: { offer: Offer }) {
  const { data } = useConnectedWallets(offer.id);
  const { data: details } = useOffer(offer.id, { enabled: (data?.length ?? 0) > 0 });
  if (data === undefined || data.length === 0) return null;
  return (
    <div className="panel">
      <header>
        <h3>
          <Link to={`/offers/${offer.slug}`}>{details?.name ?? offer.slug}</Link>
        </h3>
      </header>
      <WalletsList offerId={offer.id} />
    </div>
  );
}

/** `1234567.5` is `1,234,567.5`. */
function grouped(amount: string): string {
  const [whole = '', ...fraction] = amount.split('.');
  return [whole.replace(/\B(?=(\d{3})+$)/g, ','), ...fraction].join('.');
}
