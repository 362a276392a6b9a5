import { type ReactNode, useEffect, useMemo, useRef } from 'react';
import type { Causeway } from '../client.ts';
import { createEventHub } from '../event-hub.ts';
import type { FlowOptions, TrustedContracts } from '../flows/flow.ts';
import type { PublicClient } from '../flows/wallet.ts';
import type { Preloaded } from '../preload.ts';
import { type Appearance, AppearanceScope } from './appearance.tsx';
import { Context, type RpcUrls } from './context.ts';
import { createQueryCache, type QueryCache } from './hooks/query-cache.ts';
import { type IdentityLauncher, sumsubIdentity } from './identity/identity-launchers.ts';
import type { Messages } from './ui/messages.ts';
import { createUi, UiContext } from './ui/ui.tsx';
import { useConnections } from './wallets/connections.ts';
import { connectionOf, type HostWallet, type WalletConnector } from './wallets/connector.ts';

export type CausewayProviderProps = {
  /** Create the client once, outside your components: each client has its own cache. */
  client: Causeway;
  /** Additional wallets. Browser extensions are detected automatically unless `discoverWallets` is false. */
  wallets?: readonly WalletConnector[] | undefined;
  /**
   * For apps that connect wallets themselves: the connected wallet, or null if none is connected. With wagmi, pass the
   * result of `useWagmiWallet` from `@causeway/sdk/wagmi`. Default: the SDK connects wallets.
   */
  wallet?: HostWallet | undefined;
  /** Set to false to ignore browser extensions and offer only `wallets`. Default: true. */
  discoverWallets?: boolean | undefined;
  /** How to show the identity provider's flow. Default: `sumsubIdentity()`. */
  identity?: IdentityLauncher | undefined;
  /** The result of `preload` on the server. For the data of a single page, use `InitialData`. */
  initial?: Preloaded | undefined;
  /**
   * The cache for query results. Default: the SDK's own cache. To use TanStack Query, pass
   * `queryClientCache(queryClient)` from `@causeway/sdk/tanstack`.
   */
  cache?: ((client: Causeway) => QueryCache) | undefined;
  /** The prefix of the routes that `createHandler` serves on your server. Default: `/causeway`. */
  prefix?: string | undefined;
  /** The URL where sign-in starts. Default: `/sign-in` under `prefix`. */
  signInUrl?: string | undefined;
  /** A URL for users who cannot invest until they contact support, such as `mailto:help@example.com`. */
  supportUrl?: string | undefined;
  /** RPC URLs by chain. Used to add a chain to a wallet that does not have it yet, and to read from Solana. */
  rpcUrls?: RpcUrls | undefined;
  /**
   * The contracts that you trust. With this list, a compromised service cannot make users approve or call other
   * contracts. Define the object outside your components.
   */
  trusted?: TrustedContracts | undefined;
  /**
   * Reads EVM chains through your own nodes. Default: the wallet's node. Define `publicClient` outside your components.
   */
  publicClient?: PublicClient | undefined;
  /**
   * Whether to send the approval and the swap to the wallet as one batch (EIP-5792). Default: `auto`, which sends a
   * batch if the wallet supports batches.
   */
  batching?: FlowOptions<never>['batching'];
  /**
   * The domain and URI of the message that proves a wallet, or false for a plain message. Default: those of the page,
   * whose origin must be registered for the partner. Define the object outside your components.
   */
  siwe?: FlowOptions<never>['siwe'];
  /** The theme and colors of the components. Default: those of the surrounding page. */
  appearance?: Appearance | undefined;
  /** The locale, such as `de` or `fr-CH`, for numbers, dates and the amounts that users type. Default: `en-GB`. */
  locale?: string | undefined;
  /** Translations by English text, for example `{ Invest: 'Investieren' }`. Define them outside your components. */
  messages?: Messages | undefined;
  children: ReactNode;
};

const NO_WALLETS: readonly WalletConnector[] = [];

/**
 * Provides the client, its query cache and the connected wallets to the hooks and components inside the provider.
 *
 * @example
 * ```tsx
 * import { browserToken, createCauseway } from '@causeway/sdk';
 * import { CausewayProvider, OffersGrid } from '@causeway/sdk/react';
 *
 * const causeway = createCauseway({ baseUrl: 'https://api.example.com', accessToken: browserToken() });
 *
 * export function App() {
 *   return (
 *     <CausewayProvider client={causeway}>
 *       <OffersGrid hrefOf={({ slug }) => `/offers/${slug}`} />
 *     </CausewayProvider>
 *   );
 * }
 * ```
 */
export function CausewayProvider({
  client,
  wallets = NO_WALLETS,
  wallet,
  discoverWallets = true,
  identity,
  initial,
  cache: cacheOf = createQueryCache,
  prefix = '/causeway',
  signInUrl = `${prefix}/sign-in`,
  supportUrl,
  rpcUrls,
  trusted,
  publicClient,
  batching,
  siwe,
  appearance,
  locale,
  messages,
  children,
}: CausewayProviderProps) {
  const cache = useMemo(() => {
    const created = cacheOf(client);
    created.seed(initial ?? {});
    return created;
  }, [client]);
  useEffect(() => cache.refetchOnFocus(), [cache]);
  const events = useMemo(() => createEventHub(client), [client]);
  useEffect(() => events.onLiveChange(() => cache.setLive(events.isLive())), [cache, events]);
  const hostConnection = useMemo(() => connectionOf(wallet), [wallet]);
  const { connected, connect, disconnect } = useConnections({
    connectors: wallets,
    host: hostConnection,
    discoverWallets,
  });
  const lastUser = useRef<string | undefined>(undefined);
  const launcher = useMemo(
    () => identity ?? sumsubIdentity({ language: locale?.split('-')[0] }),
    [identity, locale],
  );
  const classNames = appearance?.classNames;
  const ui = useMemo(() => createUi({ locale, messages, classNames }), [locale, messages, classNames]);
  const value = useMemo(
    () => ({
      ...{ client, cache, events, connectors: wallets, identity: launcher },
      ...{
        prefix,
        lastUser,
        signInUrl,
        supportUrl,
        appearance,
        rpcUrls,
        trusted,
        publicClient,
        batching,
        siwe,
      },
      ...{ hostConnection, discoverWallets, connected, connect, disconnect },
    }),
    [
      client,
      cache,
      events,
      wallets,
      launcher,
      prefix,
      signInUrl,
      supportUrl,
      appearance,
      rpcUrls,
      trusted,
      publicClient,
      batching,
      siwe,
      hostConnection,
      discoverWallets,
      connected,
      connect,
      disconnect,
    ],
  );
  const content = appearance ? <AppearanceScope {...{ appearance }}>{children}</AppearanceScope> : children;
  return (
    <Context.Provider value={value}>
      <UiContext.Provider value={ui}>{content}</UiContext.Provider>
    </Context.Provider>
  );
}
