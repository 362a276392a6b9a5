import { StrictMode, useEffect, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { createCauseway } from '../../src/index.ts';
import {
  CausewayProvider,
  FundSwapCheckout,
  hostedIdentity,
  OfferFaq,
  OfferHeader,
  OfferLinks,
  OfferMilestones,
  OffersGrid,
  OfferTerms,
  ParticipationsList,
  RequirementsChecklist,
  SignInCard,
  TokenizedCheckout,
  TokenSaleCheckout,
  useOffer,
  useQuote,
  useWallet,
  type WalletConnector,
  WalletsList,
} from '../../src/react/index.ts';
import { createSolanaTestWallet, createTestWallet } from '../../src/testing/index.ts';

/** Set by the test before the page loads. */
export type PageConfig = {
  token: string;
  evmKey: `0x${string}`;
  solanaKey: string;
  rpcUrls: Record<number, string>;
  identityUrl: string;
};

const config = (window as unknown as { pageConfig: PageConfig }).pageConfig;
const params = new URLSearchParams(location.search);
const calls = new Map<string, number>();
/**
 * A test makes the wallet decline a method with `window.decline = 'personal_sign'`, or only the method's second call
 * with `'personal_sign#2'`.
 */
const confirm = ({ method }: { method: string }) => {
  const count = (calls.get(method) ?? 0) + 1;
  calls.set(method, count);
  const { decline } = window as unknown as { decline?: string };
  return decline !== method && decline !== `${method}#${count}`;
};

const wallets: WalletConnector[] = [
  {
    id: 'test-evm',
    name: 'Test wallet',
    protocol: 'ethereum',
    connect: async () => createTestWallet({ privateKey: config.evmKey, rpcUrls: config.rpcUrls, confirm }),
    restore: async () => createTestWallet({ privateKey: config.evmKey, rpcUrls: config.rpcUrls, confirm }),
  },
  {
    id: 'test-solana',
    name: 'Solana test wallet',
    protocol: 'solana',
    connect: async () => createSolanaTestWallet({ privateKey: config.solanaKey }),
  },
];

const causeway = createCauseway({ baseUrl: location.origin, accessToken: config.token });
const identity = hostedIdentity(config.identityUrl);

function OfferPage({ slug, option }: { slug: string; option: string | null }) {
  const { data: offer } = useOffer(slug);
  const optionId = offer?.options.find((one) => one.slug === option)?.id ?? offer?.options[0]?.id;
  const section = params.get('section');
  return (
    <div className="columns">
      <div className="column">
        <OfferHeader offer={offer} />
        <OfferTerms offer={offer} optionId={optionId} />
        <OfferMilestones offer={offer} />
        <OfferFaq offer={offer} />
        <OfferLinks offer={offer} />
      </div>
      <div className="column">
        {offer && optionId && section === 'checklist' && (
          <RequirementsChecklist offer={offer} optionId={optionId} />
        )}
        {offer && section !== 'checklist' && offer.type === 'platform::token_sale' && (
          <TokenSaleCheckout offer={offer} optionId={optionId} />
        )}
        {offer?.type === 'fund::swap' && <FundSwapCheckout offer={offer} />}
        {offer?.type === 'tokenized::swap' && <TokenizedCheckout offer={offer} />}
        {offer && params.has('wallets') && <WalletsList offerId={offer.id} />}
      </div>
    </div>
  );
}

/** Polls the same quote in two components, so that the test can count the requests for it. */
function Probe() {
  const [isShown, setIsShown] = useState(true);
  useEffect(() => {
    Object.assign(window, { showProbe: setIsShown });
  }, []);
  return isShown ? (
    <>
      <Price name="a" />
      <Price name="b" />
    </>
  ) : null;
}

function Price({ name }: { name: string }) {
  const { data, error, isLoading } = useQuote(
    { symbol: 'AAPLon', side: 'buy', token_amount: '2' },
    { pollIntervalMs: 400 },
  );
  const { wallet } = useWallet('ethereum');
  return (
    <p id={name}>
      {isLoading ? 'loading' : (error?.code ?? data?.price)} {wallet?.address}
    </p>
  );
}

function View() {
  switch (params.get('view')) {
    case 'offer':
      return <OfferPage slug={params.get('slug') ?? ''} option={params.get('option')} />;
    case 'participations':
      return <ParticipationsList />;
    case 'sign-in':
      return <SignInCard />;
    case 'probe':
      return <Probe />;
    default:
      return <OffersGrid hrefOf={({ slug }) => `?view=offer&slug=${slug}`} />;
  }
}

createRoot(document.getElementById('root') as HTMLElement).render(
  <StrictMode>
    <CausewayProvider
      client={causeway}
      wallets={wallets}
      identity={identity}
      supportUrl="mailto:help@app.test"
    >
      <View />
    </CausewayProvider>
  </StrictMode>,
);
