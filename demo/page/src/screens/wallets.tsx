import { CHAINS, type Offer } from '@causeway/sdk';
import {
  ErrorNotice,
  Skeleton,
  TokenAmount,
  useConnectedWallets,
  useOffer,
  useOffers,
  useTokenBalance,
  useWallet,
  WalletsList,
} from '@causeway/sdk/react';
import { useApp } from '../app-context.tsx';
import { type EvmChainConfig, isEvmConfig } from '../config.ts';
import { Link, useTitle } from '../route.tsx';
import { openPanel } from '../sandbox/panel-state.ts';
import { Address } from '../shell/copyable.tsx';

export function WalletsScreen() {
  const { config } = useApp();
  useTitle('Wallets');
  return (
    <>
      <div className="screen-head">
        <h1>Wallets</h1>
        <p className="soft">The wallet you use on this page, and the wallets you connected to offers.</p>
      </div>
      {config.chains.length > 0 && <Balances chains={config.chains.filter(isEvmConfig)} />}
      <OfferWalletsSection />
    </>
  );
}

function Balances({ chains }: { chains: readonly EvmChainConfig[] }) {
  const { wallet } = useWallet('ethereum');
  return (
    <section className="panel">
      <header>
        <h2>Connected wallet</h2>
        {wallet !== undefined && (
          <button type="button" className="button" onClick={openPanel}>
            Get test money
          </button>
        )}
      </header>
      {wallet === undefined ? (
        <p className="soft">No wallet connected. Use the button at the top to connect one.</p>
      ) : (
        <>
          <Address address={wallet.address} />
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

type RowProps = { chain: EvmChainConfig; token: EvmChainConfig['tokens'][number]; owner: string };

function BalanceRow({ chain: { chain }, token, owner }: RowProps) {
  const { data, error } = useTokenBalance(
    { chain, token_address: token.address, owner },
    { pollIntervalMs: 15_000 },
  );
  return (
    <tr>
      <th scope="row">{token.code}</th>
      <td>
        {data !== undefined ? (
          <TokenAmount units={data.balance} unit={{ ...token, code: '' }} />
        ) : error ? (
          'unavailable'
        ) : (
          <Skeleton width="8ch" />
        )}
      </td>
    </tr>
  );
}

function OfferWalletsSection() {
  const { data: offers, error, refresh } = useOffers();
  if (error !== undefined && offers === undefined) return <ErrorNotice error={error} onRetry={refresh} />;
  const sales = offers?.filter(({ type }) => type === 'platform::token_sale') ?? [];
  return (
    <section className="bound">
      <h2>Connected to offers</h2>
      <p className="soft">
        Some offers ask for a wallet. Connect it on the offer's page by signing a message.
      </p>
      {offers === undefined ? (
        <Skeleton height="6rem" />
      ) : (
        sales.map((offer) => <OfferWallets key={offer.id} offer={offer} />)
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
