import { useCallback, useEffect, useRef, useState } from 'react';
import type { EvmWallet, Wallet } from '../../flows/wallet.ts';
import { recall, remember } from '../hooks/storage.ts';
import { connectorsFor, type Protocol, type WalletConnector } from './connector.ts';
import { useInjectedWallets } from './injected.ts';

type Connected = Readonly<Partial<Record<Protocol, Wallet>>>;
const keyOf = (protocol: Protocol) => `causeway.wallet.${protocol}`;

/** The wallet of each protocol that the user has connected to this page; after a reload those that still are. */
export function useConnections(connectors: readonly WalletConnector[]) {
  const [connected, setConnected] = useState<Connected>({});
  const put = useCallback((protocol: Protocol, wallet: Wallet | undefined) => {
    setConnected(({ [protocol]: _, ...rest }) =>
      wallet === undefined ? rest : { ...rest, [protocol]: wallet },
    );
  }, []);

  const connect = useCallback(
    async (connector: WalletConnector) => {
      const wallet = await connector.connect();
      remember(keyOf(wallet.protocol), connector.id);
      put(wallet.protocol, wallet);
      return wallet;
    },
    [put],
  );
  const disconnect = useCallback(
    (protocol: Protocol) => {
      remember(keyOf(protocol), null);
      put(protocol, undefined);
    },
    [put],
  );

  useRestored(connectors, connected, put);
  useAccountChanges(connected.ethereum as EvmWallet | undefined, put);
  return { connected, connect, disconnect };
}

function useRestored(
  connectors: readonly WalletConnector[],
  connected: Connected,
  put: (protocol: Protocol, wallet: Wallet) => void,
) {
  const injected = useInjectedWallets();
  const tried = useRef(new Set<string>());
  useEffect(() => {
    for (const protocol of ['ethereum', 'solana'] as const) {
      const id = recall(keyOf(protocol));
      const connector = connectorsFor(protocol, injected, connectors).find((one) => one.id === id);
      if (connector?.restore === undefined || connected[protocol] || tried.current.has(connector.id))
        continue;
      tried.current.add(connector.id);
      connector.restore().then(
        (wallet) => wallet !== null && put(protocol, wallet),
        () => undefined,
      );
    }
  }, [connectors, injected, connected, put]);
}

type Emitter = {
  on(event: 'accountsChanged', listener: (accounts: readonly string[]) => void): void;
  removeListener(event: 'accountsChanged', listener: (accounts: readonly string[]) => void): void;
};

/** Follows the account that the user picks in the extension. */
function useAccountChanges(
  wallet: EvmWallet | undefined,
  put: (protocol: Protocol, wallet: Wallet | undefined) => void,
) {
  useEffect(() => {
    if (wallet === undefined) return;
    const emitter = wallet.provider as Partial<Emitter>;
    if (typeof emitter.on !== 'function' || typeof emitter.removeListener !== 'function') return;
    const follow = ([address]: readonly string[]) =>
      put(
        'ethereum',
        address === undefined ? undefined : { ...wallet, address: address.toLowerCase() as `0x${string}` },
      );
    emitter.on('accountsChanged', follow);
    return () => emitter.removeListener?.('accountsChanged', follow);
  }, [wallet, put]);
}
