import { useCallback, useEffect, useRef, useState } from 'react';
import type { EvmWallet, Wallet } from '../../flows/wallet.ts';
import { readItem, writeItem } from '../hooks/local-storage.ts';
import { connectorsFor, type Protocol, type WalletConnector } from './connector.ts';
import { useInjectedWallets } from './injected.ts';
import { useStandardWallets } from './wallet-standard.ts';

type Connected = Readonly<Partial<Record<Protocol, Wallet>>>;
const storageKey = (protocol: Protocol) => `causeway.wallet.${protocol}`;

/** Tracks the connected wallet of each protocol and restores it after a reload. */
export function useConnections(connectors: readonly WalletConnector[]) {
  const [connected, setConnected] = useState<Connected>({});
  const setWallet = useCallback((protocol: Protocol, wallet: Wallet | undefined) => {
    setConnected(({ [protocol]: _, ...rest }) =>
      wallet === undefined ? rest : { ...rest, [protocol]: wallet },
    );
  }, []);

  const connect = useCallback(
    async (connector: WalletConnector) => {
      const wallet = await connector.connect();
      writeItem(storageKey(wallet.protocol), connector.id);
      setWallet(wallet.protocol, wallet);
      return wallet;
    },
    [setWallet],
  );
  const disconnect = useCallback(
    (protocol: Protocol) => {
      writeItem(storageKey(protocol), null);
      setWallet(protocol, undefined);
    },
    [setWallet],
  );

  useRestoredWallets(connectors, connected, setWallet);
  useAccountChanges(connected.ethereum as EvmWallet | undefined, setWallet);
  return { connected, connect, disconnect };
}

function useRestoredWallets(
  connectors: readonly WalletConnector[],
  connected: Connected,
  setWallet: (protocol: Protocol, wallet: Wallet) => void,
) {
  const injected = useInjectedWallets();
  const standard = useStandardWallets();
  const tried = useRef(new Set<string>());
  useEffect(() => {
    for (const protocol of ['ethereum', 'solana'] as const) {
      const id = readItem(storageKey(protocol));
      const connector = connectorsFor(protocol, injected, standard, connectors).find((one) => one.id === id);
      if (connector?.restore === undefined || connected[protocol] || tried.current.has(connector.id))
        continue;
      tried.current.add(connector.id);
      connector.restore().then(
        (wallet) => wallet !== null && setWallet(protocol, wallet),
        () => undefined,
      );
    }
  }, [connectors, injected, standard, connected, setWallet]);
}

type Emitter = {
  on(event: 'accountsChanged', listener: (accounts: readonly string[]) => void): void;
  removeListener(event: 'accountsChanged', listener: (accounts: readonly string[]) => void): void;
};

/** Follows account changes in the extension. */
function useAccountChanges(
  wallet: EvmWallet | undefined,
  setWallet: (protocol: Protocol, wallet: Wallet | undefined) => void,
) {
  useEffect(() => {
    if (wallet === undefined) return;
    const emitter = wallet.provider as Partial<Emitter>;
    if (typeof emitter.on !== 'function' || typeof emitter.removeListener !== 'function') return;
    const follow = ([address]: readonly string[]) =>
      setWallet(
        'ethereum',
        address === undefined ? undefined : { ...wallet, address: address.toLowerCase() as `0x${string}` },
      );
    emitter.on('accountsChanged', follow);
    return () => emitter.removeListener?.('accountsChanged', follow);
  }, [wallet, setWallet]);
}
