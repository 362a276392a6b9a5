import { type ReactNode, useEffect, useMemo } from 'react';
import type { Causeway } from '../client.ts';
import type { TrustedContracts } from '../flows/flow.ts';
import type { Preloaded } from '../preload.ts';
import { Context, type RpcUrls } from './context.ts';
import { createEventHub } from './hooks/event-hub.ts';
import { createQueryCache } from './hooks/query-cache.ts';
import { type IdentityLauncher, sumsubIdentity } from './identity/identity-launchers.ts';
import { useConnections } from './wallets/connections.ts';
import type { WalletConnector } from './wallets/connector.ts';

export type CausewayProviderProps = {
  /** Create it once, outside your components: each client has its own cache. */
  client: Causeway;
  /** Wallets in addition to browser extensions, which are detected automatically. */
  wallets?: readonly WalletConnector[] | undefined;
  /** How to show the identity provider's flow. Default: `sumsubIdentity()`. */
  identity?: IdentityLauncher | undefined;
  /** The result of `preload` on the server. */
  initial?: Preloaded | undefined;
  /** Where sign-in starts. Default: `/causeway/sign-in`. */
  signInUrl?: string | undefined;
  /** Where users who cannot resolve a blocker themselves get help, such as `mailto:help@example.com`. */
  supportUrl?: string | undefined;
  /** RPC URLs to add to a wallet that does not know a chain yet, and to read Solana through. */
  rpcUrls?: RpcUrls | undefined;
  /** The contracts to trust, so that a compromised service cannot name others. Define it outside your components. */
  trusted?: TrustedContracts | undefined;
  children: ReactNode;
};

const NO_WALLETS: readonly WalletConnector[] = [];

/**
 * Provides the client, its query cache and the connected wallets to the hooks and components below it.
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
  identity,
  initial,
  signInUrl = '/causeway/sign-in',
  supportUrl,
  rpcUrls,
  trusted,
  children,
}: CausewayProviderProps) {
  const cache = useMemo(() => createQueryCache(client, initial), [client]);
  useEffect(() => cache.refetchOnFocus(), [cache]);
  const events = useMemo(() => createEventHub(client), [client]);
  useEffect(() => events.onLiveChange(() => cache.setLive(events.isLive())), [cache, events]);
  const { connected, connect, disconnect } = useConnections(wallets);
  const launcher = useMemo(() => identity ?? sumsubIdentity(), [identity]);
  const value = useMemo(
    () => ({
      ...{ client, cache, events, connectors: wallets, identity: launcher },
      ...{ signInUrl, supportUrl, rpcUrls, trusted, connected, connect, disconnect },
    }),
    [
      client,
      cache,
      events,
      wallets,
      launcher,
      signInUrl,
      supportUrl,
      rpcUrls,
      trusted,
      connected,
      connect,
      disconnect,
    ],
  );
  return <Context.Provider value={value}>{children}</Context.Provider>;
}
