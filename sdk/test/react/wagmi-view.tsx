import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { createConfig, http, version, WagmiProvider } from 'wagmi';
import { baseSepolia, sepolia } from 'wagmi/chains';
// The older version of wagmi in the tests does not export `walletConnect`, so a named import would fail.
import * as connectors from 'wagmi/connectors';
import { CausewayProvider, type CausewayProviderProps, useWallet } from '../../src/react/index.ts';
import type { TestWallet } from '../../src/testing/index.ts';
import { useWagmiWallet } from '../../src/wagmi/index.ts';

const OTHER_ACCOUNT = `0x${'11'.repeat(20)}`;

/**
 * Makes the test wallet behave like a browser extension. Setting `window.switchOn` to a method, such as `eth_call`,
 * switches the wallet's account during the next call to that method.
 */
function extensionOf({ provider }: TestWallet) {
  const listeners = new Map<string, (data: unknown) => void>();
  let account: string | undefined;
  let isConnected = false;
  return {
    on: (event: string, listener: (data: unknown) => void) => void listeners.set(event, listener),
    removeListener: (event: string) => void listeners.delete(event),
    request: async (call: { method: string; params?: unknown }) => {
      const page = window as unknown as { switchOn?: string; asked?: string[] };
      page.asked = [...(page.asked ?? []), call.method];
      if (page.switchOn === call.method) {
        account = OTHER_ACCOUNT;
        listeners.get('accountsChanged')?.([account]);
      }
      isConnected ||= call.method === 'eth_requestAccounts';
      if (call.method === 'eth_accounts' && !isConnected) return [];
      const isAccounts = call.method === 'eth_accounts' || call.method === 'eth_requestAccounts';
      return isAccounts && account !== undefined ? [account] : provider.request(call);
    },
  };
}

type Props = CausewayProviderProps & { evm: TestWallet; rpcUrls: Record<number, string> };

/**
 * Creates a host app that uses wagmi. The components use the app's connection: an extension or, with `?relay=`,
 * WalletConnect.
 */
export function createWagmiHost({ evm, rpcUrls, children, ...props }: Props) {
  const provider = extensionOf(evm);
  const relayUrl = new URLSearchParams(location.search).get('relay');
  const config = createConfig({
    chains: [sepolia, baseSepolia],
    transports: { [sepolia.id]: http(rpcUrls[sepolia.id]), [baseSepolia.id]: http(rpcUrls[baseSepolia.id]) },
    connectors: [
      relayUrl === null
        ? connectors.injected({
            target: () => ({ id: 'host', name: 'Host wallet', provider: provider as never }),
          })
        : connectors.walletConnect({
            projectId: '0'.repeat(32),
            relayUrl,
            showQrModal: false,
            telemetryEnabled: false,
          }),
    ],
    multiInjectedProviderDiscovery: false,
  });
  // Exposes WalletConnect's pairing URI, which a user would scan, so that a test can pass the URI to its wallet.
  config.connectors[0]?.emitter.on('message', ({ data }) => Object.assign(window, { uri: data }));
  const queries = new QueryClient();
  Object.assign(window, { wagmi: `wagmi@${version}` });
  const Investments = () => (
    <CausewayProvider {...props} wallet={useWagmiWallet()}>
      <Account />
      {children}
    </CausewayProvider>
  );
  return (): ReactNode => (
    <WagmiProvider config={config}>
      <QueryClientProvider client={queries}>
        <Investments />
      </QueryClientProvider>
    </WagmiProvider>
  );
}

function Account() {
  const { wallet, disconnect } = useWallet('ethereum');
  return (
    <button type="button" id="account" onClick={disconnect}>
      {wallet?.address ?? 'not connected'}
    </button>
  );
}
