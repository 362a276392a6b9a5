import { createContext, useContext } from 'react';
import type { Causeway } from '../client.ts';
import type { EventHub } from '../event-hub.ts';
import type { FlowOptions, TrustedContracts } from '../flows/flow.ts';
import type { PublicClient, Wallet } from '../flows/wallet.ts';
import type { Chain } from '../wire.ts';
import type { Appearance } from './appearance.tsx';
import type { QueryCache } from './hooks/query-cache.ts';
import type { IdentityLauncher } from './identity/identity-dialog.ts';
import type { Protocol, WalletConnection, WalletConnector } from './wallets/connector.ts';

export type RpcUrls = Partial<Record<Chain, readonly string[]>>;

export type CausewayContext = {
  client: Causeway;
  cache: QueryCache;
  events: EventHub;
  connectors: readonly WalletConnector[];
  identity: IdentityLauncher;
  /** The prefix of the SDK's routes on the app's own server. */
  prefix: string;
  /** The id of the user that `useSession` last returned on this page. All uses of `useSession` share this value. */
  lastUser: { current: string | undefined };
  signInUrl: string;
  appearance: Appearance | undefined;
  supportUrl: string | undefined;
  rpcUrls: RpcUrls | undefined;
  trusted: TrustedContracts | undefined;
  publicClient: PublicClient | undefined;
  batching: FlowOptions<never>['batching'];
  siwe: FlowOptions<never>['siwe'];
  /** The wallet connection that the host app manages, or undefined if there is none. */
  hostConnection: WalletConnection | undefined;
  discoverWallets: boolean;
  connected: Readonly<Partial<Record<Protocol, Wallet>>>;
  connect(connector: WalletConnector): Promise<Wallet>;
  disconnect(protocol: Protocol): void;
};

export const Context = createContext<CausewayContext | null>(null);

export function useCausewayContext(): CausewayContext {
  const value = useContext(Context);
  if (value === null)
    throw new Error(
      'CausewayProvider is missing. Wrap your app in <CausewayProvider> from @causeway/sdk/react.',
    );
  return value;
}

/**
 * Returns the client passed to `CausewayProvider`.
 *
 * @example
 * ```tsx
 * import { useCauseway } from '@causeway/sdk/react';
 *
 * function ResendForm() {
 *   const causeway = useCauseway();
 *   return <button type="button" onClick={() => causeway.documents.submit('tax_certification', {})}>Resend</button>;
 * }
 * ```
 */
export function useCauseway(): Causeway {
  return useCausewayContext().client;
}
