import { type ReactNode, useEffect, useMemo } from 'react';
import type { Causeway } from '../client.ts';
import type { Preloaded } from '../preload.ts';
import { Context, type RpcUrls } from './context.ts';
import { createCache } from './hooks/query-cache.ts';
import { type IdentityLauncher, sumsubIdentity } from './identity/identity.ts';
import { useConnections } from './wallets/connections.ts';
import type { WalletConnector } from './wallets/connector.ts';

export type CausewayProviderProps = {
  /** Make it once, outside of your components: a new one starts with nothing known. */
  client: Causeway;
  /** Beside the extensions, which are found by themselves. */
  wallets?: readonly WalletConnector[] | undefined;
  /** How the identity provider's flow is shown; Sumsub's own web SDK unless told. */
  identity?: IdentityLauncher | undefined;
  /** What `preload` gave on the server. */
  initial?: Preloaded | undefined;
  /** Where signing in starts; `/causeway/sign-in` unless told. */
  signInUrl?: string | undefined;
  /** Nodes to tell a wallet that does not know a chain yet. */
  rpcUrls?: RpcUrls | undefined;
  children: ReactNode;
};

const NO_WALLETS: readonly WalletConnector[] = [];

/**
 * Holds the client, what it has answered, and the connected wallets, for the hooks and components below it.
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
  rpcUrls,
  children,
}: CausewayProviderProps) {
  const cache = useMemo(() => createCache(client, initial), [client]);
  useEffect(() => cache.attend(), [cache]);
  const { connected, connect, disconnect } = useConnections(wallets);
  const launcher = useMemo(() => identity ?? sumsubIdentity(), [identity]);
  const value = useMemo(
    () => ({
      ...{ client, cache, connectors: wallets, identity: launcher, signInUrl, rpcUrls },
      ...{ connected, connect, disconnect },
    }),
    [client, cache, wallets, launcher, signInUrl, rpcUrls, connected, connect, disconnect],
  );
  return <Context.Provider value={value}>{children}</Context.Provider>;
}
