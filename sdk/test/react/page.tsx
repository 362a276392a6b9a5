import { type ReactNode, StrictMode, useEffect, useMemo, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { createCauseway } from '../../src/index.ts';
import {
  CausewayProvider,
  Checkout,
  hostedIdentity,
  OfferFaq,
  OfferHeader,
  OfferLinks,
  OfferMilestones,
  OffersGrid,
  OfferTerms,
  ParticipationsList,
  RequirementsChecklist,
  SignedIn,
  SignedOut,
  SignInCard,
  SignOutButton,
  useOffer,
  useQuote,
  useSession,
  useWallet,
  type WalletConnector,
  WalletsList,
} from '../../src/react/index.ts';
import { createSolanaTestWallet, createTestWallet, type Interceptor } from '../../src/testing/index.ts';
import { Headless } from './headless-view.tsx';
import { createWagmiHost } from './wagmi-view.tsx';

/** The configuration, which the test sets before the page loads. */
export type PageConfig = {
  token: string;
  evmKey: `0x${string}`;
  solanaKey: string;
  rpcUrls: Record<number, string>;
  solanaUrl: string;
  identityUrl: string;
};

const config = (window as unknown as { pageConfig: PageConfig }).pageConfig;
const params = new URLSearchParams(location.search);
const calls = new Map<string, number>();
/**
 * `window.decline = 'personal_sign'` makes the wallet decline a method. `'personal_sign#2'` makes it decline only the
 * second call.
 */
const confirm = async ({ method }: { method: string }) => {
  const count = (calls.get(method) ?? 0) + 1;
  calls.set(method, count);
  const { decline, hold } = window as unknown as { decline?: string; hold?: string };
  // `window.hold` keeps the prompt open, and `window.release()` approves it.
  if (hold === method)
    await new Promise<void>((release) => Object.assign(window, { hold: undefined, release }));
  return decline !== method && decline !== `${method}#${count}`;
};

/**
 * `window.dropAfter = 'eth_sendTransaction'` makes the wallet lose its connection after that method. `window.lockAfter`
 * makes it lock itself.
 */
const intercept: Interceptor = async (call, next) => {
  const answer = await next(call);
  const page = window as unknown as { dropAfter?: string; lockAfter?: string };
  if (page.lockAfter === call.method) for (const lock of locks) lock([]);
  if (page.dropAfter === call.method) throw new TypeError('Failed to fetch');
  return answer;
};
const locks = new Set<(accounts: readonly string[]) => void>();

const connectEvm = async () => {
  const wallet = createTestWallet({
    privateKey: config.evmKey,
    ...{ rpcUrls: config.rpcUrls, confirm, intercept },
  });
  type Listener = (accounts: readonly string[]) => void;
  const on = (_event: string, listener: Listener) => void locks.add(listener);
  const removeListener = (_event: string, listener: Listener) => void locks.delete(listener);
  return { ...wallet, provider: { ...wallet.provider, on, removeListener } };
};

const wallets: WalletConnector[] = [
  {
    id: 'test-evm',
    name: 'Test wallet',
    protocol: 'ethereum',
    connect: connectEvm,
    restore: connectEvm,
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

/** `window.leave()` leaves the page as a link in the app would, and `window.comeBack()` returns to the page. */
function OfferPage(props: { slug: string; option: string | null }) {
  const [isHere, setIsHere] = useState(true);
  useEffect(() => {
    Object.assign(window, { leave: () => setIsHere(false), comeBack: () => setIsHere(true) });
  }, []);
  return isHere ? <OfferParts {...props} /> : null;
}

function OfferParts({ slug, option }: { slug: string; option: string | null }) {
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
        {offer && section !== 'checklist' && <Checkout offer={offer} optionId={optionId} />}
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

/** Disconnects in an effect, and counts how often the effect runs. */
function Disconnecting() {
  const [runs, setRuns] = useState(0);
  const { disconnect } = useWallet('ethereum');
  useEffect(() => {
    disconnect();
    setRuns((count) => count + 1);
  }, [disconnect]);
  return <p id="runs">{runs}</p>;
}

/** Shows who is signed in. Signs out with the component or, when `#sign-out` is clicked, with the hook. */
function SessionView() {
  const { status, user, signOut } = useSession();
  return (
    <>
      <p id="status">{status}</p>
      <SignedIn>
        <p>Hello {user?.email}</p>
        <SignOutButton returnTo="/bye" />
        <button type="button" id="sign-out" onClick={() => signOut({ returnTo: '/later' })}>
          Leave
        </button>
      </SignedIn>
      <SignedOut>
        <SignInCard />
      </SignedOut>
    </>
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
    case 'session':
      return <SessionView />;
    case 'headless':
      return <Headless />;
    case 'disconnecting':
      return <Disconnecting />;
    case 'probe':
      return <Probe />;
    default:
      return <OffersGrid hrefOf={({ slug }) => `?view=offer&slug=${slug}`} />;
  }
}

const props = {
  ...{ client: causeway, wallets, identity, supportUrl: 'mailto:help@app.test' },
  rpcUrls: { solana_devnet: [config.solanaUrl] },
};
const evm = createTestWallet({ privateKey: config.evmKey, rpcUrls: config.rpcUrls, confirm });

/** `?host=` selects how the wallet is connected: by wagmi, by the app itself, or, by default, by the SDK. */
function createApp() {
  const view = <View />;
  if (params.get('host') === 'wagmi')
    return createWagmiHost({ ...props, evm, rpcUrls: config.rpcUrls, children: view });
  if (params.get('host') === 'app') return () => <AppWallet>{view}</AppWallet>;
  const discoverWallets = params.get('discover') !== 'off';
  return () => (
    <CausewayProvider {...props} discoverWallets={discoverWallets}>
      {view}
    </CausewayProvider>
  );
}

/** An app that connects the wallet in its own dialog, which is a single button here. */
function AppWallet({ children }: { children: ReactNode }) {
  const [isOpen, setIsOpen] = useState(false);
  const [wallet, setWallet] = useState<typeof evm | null>(null);
  const connection = useMemo(
    () => ({ protocol: 'ethereum' as const, wallet, openDialog: () => setIsOpen(true) }),
    [wallet],
  );
  return (
    <CausewayProvider {...props} wallet={connection}>
      {isOpen && (
        <button type="button" onClick={() => setWallet(evm)}>
          The app's own wallet
        </button>
      )}
      {children}
    </CausewayProvider>
  );
}

const App = createApp();
createRoot(document.getElementById('root') as HTMLElement).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
