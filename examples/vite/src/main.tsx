import '@causeway/sdk/react/styles.css';
import { browserToken, createCauseway } from '@causeway/sdk';
import {
  CausewayProvider,
  Checkout,
  OffersGrid,
  SignedIn,
  SignedOut,
  SignInCard,
  SignOutButton,
  useOffer,
} from '@causeway/sdk/react';
import { useWagmiWallet } from '@causeway/sdk/wagmi';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { createConfig, http, WagmiProvider } from 'wagmi';
import { baseSepolia, sepolia } from 'wagmi/chains';

// The app connects wallets with wagmi, which finds browser extensions itself. The SDK uses the wallet that wagmi has
// connected.
const config = createConfig({
  chains: [sepolia, baseSepolia],
  transports: { [sepolia.id]: http(), [baseSepolia.id]: http() },
});
const queryClient = new QueryClient();
const { baseUrl } = await (await fetch('/settings.json')).json();
const causeway = createCauseway({ baseUrl, accessToken: browserToken() });

function App() {
  const slug = new URLSearchParams(location.search).get('offer');
  return (
    <CausewayProvider client={causeway} wallet={useWagmiWallet()}>
      <h1>Invest with Vite</h1>
      <SignedOut>
        <SignInCard />
      </SignedOut>
      <SignedIn>
        <SignOutButton />
        {slug === null ? <OffersGrid hrefOf={(offer) => `/?offer=${offer.slug}`} /> : <Invest slug={slug} />}
      </SignedIn>
    </CausewayProvider>
  );
}

function Invest({ slug }: { slug: string }) {
  const { data: offer } = useOffer(slug);
  return offer ? <Checkout offer={offer} /> : null;
}

createRoot(document.getElementById('root') as HTMLElement).render(
  <StrictMode>
    <WagmiProvider config={config}>
      <QueryClientProvider client={queryClient}>
        <App />
      </QueryClientProvider>
    </WagmiProvider>
  </StrictMode>,
);
