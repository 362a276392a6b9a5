import { useSyncExternalStore } from 'react';
import type { Eip1193Provider, EvmWallet } from '../../flows/wallet.ts';
import type { WalletConnector } from './connector.ts';

type Announcement = {
  info: { uuid: string; name: string; icon: string; rdns: string };
  provider: Eip1193Provider;
};

const NONE: readonly WalletConnector<EvmWallet>[] = [];
type Store = { found: readonly WalletConnector<EvmWallet>[]; tellers: Set<() => void> };
/** Of the window rather than of the module: extensions announce themselves to the page once. */
const stores = new WeakMap<Window, Store>();

function storeOf(page: Window): Store {
  const known = stores.get(page);
  if (known !== undefined) return known;
  const store: Store = { found: NONE, tellers: new Set() };
  stores.set(page, store);
  page.addEventListener('eip6963:announceProvider', (event) => {
    const connector = connectorOf((event as CustomEvent<Announcement>).detail);
    if (connector === null || store.found.some(({ id }) => id === connector.id)) return;
    store.found = [...store.found, connector];
    for (const tell of store.tellers) tell();
  });
  page.dispatchEvent(new Event('eip6963:requestProvider'));
  return store;
}

/** Null for what does not keep to EIP-6963; other scripts of the page can announce anything. */
function connectorOf(announced: Partial<Announcement> | null): WalletConnector<EvmWallet> | null {
  const { info, provider } = announced ?? {};
  if (typeof info?.uuid !== 'string' || typeof info.name !== 'string') return null;
  if (typeof provider?.request !== 'function') return null;
  const ask = async (method: string): Promise<EvmWallet | null> => {
    const accounts = (await provider.request({ method })) as readonly string[];
    const [address] = accounts;
    return address === undefined
      ? null
      : { protocol: 'ethereum', address: address.toLowerCase() as `0x${string}`, provider };
  };
  return {
    // The uuid is new with every load of the page, while the name in reverse DNS order stays.
    id: info.rdns || info.uuid,
    name: info.name,
    icon: typeof info.icon === 'string' && info.icon.startsWith('data:image/') ? info.icon : undefined,
    protocol: 'ethereum',
    connect: async () => {
      const wallet = await ask('eth_requestAccounts');
      if (wallet === null) throw new Error(`${info.name} gave no account. Unlock it and try again.`);
      return wallet;
    },
    restore: () => ask('eth_accounts'),
  };
}

function subscribe(tell: () => void): () => void {
  const { tellers } = storeOf(window);
  tellers.add(tell);
  return () => void tellers.delete(tell);
}

/**
 * The wallet extensions of this browser, as they announce themselves (EIP-6963).
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
    () => storeOf(window).found,
    () => NONE,
  );
}
