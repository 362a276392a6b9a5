import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { EvmWallet, Wallet } from '../../flows/wallet.ts';
import { readItem, writeItem } from '../hooks/local-storage.ts';
import { connectorsFor, type Protocol, type WalletConnection, type WalletConnector } from './connector.ts';
import { useDiscoveredWallets } from './discovered.ts';

type Connected = Readonly<Partial<Record<Protocol, Wallet>>>;
const storageKey = (protocol: Protocol) => `causeway.wallet.${protocol}`;

type Options = {
  connectors: readonly WalletConnector[];
  /** The wallet connection that the host app manages itself, for one protocol. */
  host: WalletConnection | undefined;
  discoverWallets: boolean;
};

/** Tracks the connected wallet for each protocol and restores it after a reload. */
export function useConnections({ connectors, host, discoverWallets }: Options) {
  const [own, setConnected] = useState<Connected>({});
  const setWallet = useCallback((protocol: Protocol, wallet: Wallet | undefined) => {
    setConnected((before) => {
      if (before[protocol] === wallet) return before;
      const { [protocol]: _, ...rest } = before;
      return wallet === undefined ? rest : { ...rest, [protocol]: wallet };
    });
  }, []);
  const connected = useHostWallet(own, host);
  const latestHost = useRef(host);
  latestHost.current = host;

  const connect = useCallback(
    async (connector: WalletConnector) => {
      const wallet = await connector.connect();
      // If the host manages the connection, the host remembers and reports it, so it is not stored here.
      if (latestHost.current?.protocol === wallet.protocol) return wallet;
      writeItem(storageKey(wallet.protocol), connector.id);
      setWallet(wallet.protocol, wallet);
      return wallet;
    },
    [setWallet],
  );
  const disconnect = useCallback(
    (protocol: Protocol) => {
      if (latestHost.current?.protocol === protocol) return latestHost.current.disconnect?.();
      writeItem(storageKey(protocol), null);
      setWallet(protocol, undefined);
    },
    [setWallet],
  );

  useRestoredWallets({ connectors, host, discoverWallets }, own, setWallet);
  useAccountChanges(own.ethereum as EvmWallet | undefined, setWallet);
  return { connected, connect, disconnect };
}

/** Replaces the SDK's wallet with the host's wallet for the protocol that the host manages. */
function useHostWallet(own: Connected, host: WalletConnection | undefined): Connected {
  const { protocol, wallet } = host ?? {};
  return useMemo(() => {
    if (protocol === undefined) return own;
    const { [protocol]: _, ...rest } = own;
    return wallet ? { ...rest, [protocol]: wallet } : rest;
  }, [own, protocol, wallet]);
}

function useRestoredWallets(
  { connectors, host, discoverWallets }: Options,
  connected: Connected,
  setWallet: (protocol: Protocol, wallet: Wallet) => void,
) {
  const discovered = useDiscoveredWallets(discoverWallets, host?.protocol);
  const hostProtocol = host?.protocol;
  const tried = useRef(new Set<string>());
  useEffect(() => {
    for (const protocol of ['ethereum', 'solana'] as const) {
      if (protocol === hostProtocol) continue;
      const id = readItem(storageKey(protocol));
      const connector = connectorsFor(protocol, discovered, connectors).find((one) => one.id === id);
      if (connector?.restore === undefined || connected[protocol] || tried.current.has(connector.id))
        continue;
      tried.current.add(connector.id);
      connector.restore().then(
        (wallet) => wallet !== null && setWallet(protocol, wallet),
        () => undefined,
      );
    }
  }, [connectors, hostProtocol, discovered, connected, setWallet]);
}

type Emitter = {
  on(event: 'accountsChanged', listener: (accounts: readonly string[]) => void): void;
  removeListener(event: 'accountsChanged', listener: (accounts: readonly string[]) => void): void;
};

/** Updates the wallet when the user switches or disconnects accounts in the wallet extension. */
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
