import { createContext, useContext } from 'react';
import type { Causeway } from '../client.ts';
import type { Wallet } from '../flows/wallet.ts';
import type { EvmChain } from '../wire.ts';
import type { Cache } from './hooks/query-cache.ts';
import type { IdentityLauncher } from './identity/identity.ts';
import type { Protocol, WalletConnector } from './wallets/connector.ts';

export type RpcUrls = Partial<Record<EvmChain, readonly string[]>>;

export type CausewayContext = {
  client: Causeway;
  cache: Cache;
  connectors: readonly WalletConnector[];
  identity: IdentityLauncher;
  signInUrl: string;
  rpcUrls: RpcUrls | undefined;
  connected: Readonly<Partial<Record<Protocol, Wallet>>>;
  connect(connector: WalletConnector): Promise<Wallet>;
  disconnect(protocol: Protocol): void;
};

export const Context = createContext<CausewayContext | null>(null);

export function useCausewayContext(): CausewayContext {
  const value = useContext(Context);
  if (value === null) throw new Error('Put <CausewayProvider> around what uses @causeway/sdk/react.');
  return value;
}

/**
 * The client that the provider was given.
 *
 * @example
 * ```tsx
 * import { useCauseway } from '@causeway/sdk/react';
 *
 * function Resend() {
 *   const causeway = useCauseway();
 *   return <button type="button" onClick={() => causeway.documents.submit('tax_certification', {})}>Send again</button>;
 * }
 * ```
 */
export function useCauseway(): Causeway {
  return useCausewayContext().client;
}
