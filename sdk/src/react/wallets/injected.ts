import { useSyncExternalStore } from 'react';
import type { Eip1193Provider, EvmWallet } from '../../flows/wallet.ts';
import type { WalletConnector } from './connector.ts';

type Announcement = {
  info: { uuid: string; name: string; icon: string; rdns: string };
  provider: Eip1193Provider;
};

const NONE: readonly WalletConnector<EvmWallet>[] = [];
type Store = { connectors: readonly WalletConnector<EvmWallet>[]; listeners: Set<() => void> };
/** One store per window, because extensions announce themselves to a page only once. */
const stores = new WeakMap<Window, Store>();

function storeOf(page: Window): Store {
  const existing = stores.get(page);
  if (existing !== undefined) return existing;
  const store: Store = { connectors: NONE, listeners: new Set() };
  stores.set(page, store);
  page.addEventListener('eip6963:announceProvider', (event) => {
    const connector = connectorOf((event as CustomEvent<Announcement>).detail);
    if (connector === null || store.connectors.some(({ id }) => id === connector.id)) return;
    store.connectors = [...store.connectors, connector];
    for (const listener of store.listeners) listener();
  });
  page.dispatchEvent(new Event('eip6963:requestProvider'));
  return store;
}

/** Returns null for malformed announcements: any script on the page can send one. */
function connectorOf(announced: Partial<Announcement> | null): WalletConnector<EvmWallet> | null {
  const { info, provider } = announced ?? {};
  if (typeof info?.uuid !== 'string' || typeof info.name !== 'string') return null;
  if (typeof provider?.request !== 'function') return null;
  const requestAccount = async (method: string): Promise<EvmWallet | null> => {
    const accounts = (await provider.request({ method })) as readonly string[];
    const [address] = accounts;
    return address === undefined
      ? null
      : { protocol: 'ethereum', address: address.toLowerCase() as `0x${string}`, provider };
  };
  return {
    // The uuid changes with every page load; the reverse DNS name is stable.
    id: info.rdns || info.uuid,
    name: info.name,
    icon: typeof info.icon === 'string' && info.icon.startsWith('data:image/') ? info.icon : undefined,
    protocol: 'ethereum',
    connect: async () => {
      const wallet = await requestAccount('eth_requestAccounts');
      if (wallet === null) throw new Error(`${info.name} returned no account. Unlock it and try again.`);
      return wallet;
    },
    restore: () => requestAccount('eth_accounts'),
  };
}

function subscribe(listener: () => void): () => void {
  const { listeners } = storeOf(window);
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/**
 * Returns the wallet extensions that announce themselves in this browser (EIP-6963).
 *
 * @example
 * ```tsx
 * import { useInjectedWallets } from '@causeway/sdk/react';
 *
 * function Extensions() {
 *   return <p>{useInjectedWallets().map(({ name }) => name).join(', ')}</p>;
 * }
 * ```
 */
export function useInjectedWallets(): readonly WalletConnector<EvmWallet>[] {
  return useSyncExternalStore(
    subscribe,
    () => storeOf(window).connectors,
    () => NONE,
  );
}
