import { useSyncExternalStore } from 'react';
import type { Wallet } from '../../flows/wallet.ts';
import type { WalletConnector } from './connector.ts';

type Connectors<One extends Wallet> = readonly WalletConnector<One>[];
type Store<One extends Wallet> = { connectors: Connectors<One>; listeners: Set<() => void> };

const subscribeToNothing = () => () => undefined;

/**
 * Creates a hook. The hook returns the wallets that announce themselves in this browser. `listen` subscribes to the
 * announcements and adds a connector for each wallet. `listen` runs once per window, because extensions announce
 * themselves to a page only once. If several connectors have the same id, the first is kept. A disabled hook returns no
 * wallets and does not call `listen`.
 */
export function discoverWallets<One extends Wallet>(
  listen: (page: Window, add: (found: Connectors<One>) => void) => void,
): (isEnabled?: boolean) => Connectors<One> {
  const none: Connectors<One> = [];
  const stores = new WeakMap<Window, Store<One>>();
  const storeOf = (page: Window): Store<One> => {
    const existing = stores.get(page);
    if (existing !== undefined) return existing;
    const store: Store<One> = { connectors: none, listeners: new Set() };
    stores.set(page, store);
    listen(page, (found) => {
      const added = found.filter(({ id }) => !store.connectors.some((known) => known.id === id));
      if (added.length === 0) return;
      store.connectors = [...store.connectors, ...added];
      for (const listener of store.listeners) listener();
    });
    return store;
  };
  const subscribe = (listener: () => void) => {
    const { listeners } = storeOf(window);
    listeners.add(listener);
    return () => void listeners.delete(listener);
  };
  return (isEnabled = true) =>
    useSyncExternalStore(
      isEnabled ? subscribe : subscribeToNothing,
      isEnabled ? () => storeOf(window).connectors : () => none,
      () => none,
    );
}

/** Returns the icon if it is a `data:` image. Other URLs could load an image from any server. */
export function iconOf(icon: unknown): string | undefined {
  return typeof icon === 'string' && icon.startsWith('data:image/') ? icon : undefined;
}
