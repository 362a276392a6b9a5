import { useCallback, useMemo } from 'react';
import type { EvmWallet, SolanaWallet, Wallet } from '../../flows/wallet.ts';
import { useCausewayContext } from '../context.ts';
import { connectorsFor, type Protocol, type WalletConnector } from '../wallets/connector.ts';
import { useDiscoveredWallets } from '../wallets/discovered.ts';

type WalletOf<One extends Protocol> = One extends 'ethereum' ? EvmWallet : SolanaWallet;

export type ConnectedWallet<One extends Protocol> = {
  wallet: WalletOf<One> | undefined;
  /**
   * The wallets to choose from: first the detected extensions, then the wallets passed to `CausewayProvider`. If the
   * host app manages the connection itself, these are only the host's connectors.
   */
  connectors: readonly WalletConnector[];
  connect(connector: WalletConnector): Promise<Wallet>;
  /** Forgets the wallet on this page. The wallet itself may still list this page as connected. */
  disconnect(): void;
  /** Opens the host's wallet dialog; undefined if the SDK shows its own dialog. */
  openDialog: (() => void) | undefined;
};

/**
 * Returns the wallet that this page is connected to for a protocol, and the connectors to choose from.
 *
 * @example
 * ```tsx
 * import { useWallet } from '@causeway/sdk/react';
 *
 * function Account() {
 *   const { wallet, connectors, connect, disconnect } = useWallet('ethereum');
 *   if (wallet) return <button type="button" onClick={disconnect}>{wallet.address}</button>;
 *   return connectors.map((one) => (
 *     <button key={one.id} type="button" onClick={() => connect(one)}>{one.name}</button>
 *   ));
 * }
 * ```
 */
export function useWallet<One extends Protocol>(protocol: One): ConnectedWallet<One> {
  const { connected, connectors, connect, disconnect, hostConnection, discoverWallets } =
    useCausewayContext();
  const host = hostConnection?.protocol === protocol ? hostConnection : undefined;
  const isHosted = host !== undefined;
  const hosted = host?.connectors;
  const discovered = useDiscoveredWallets(discoverWallets, hostConnection?.protocol);
  const own = useMemo(
    () =>
      isHosted ? connectorsFor(protocol, hosted ?? []) : connectorsFor(protocol, discovered, connectors),
    [isHosted, hosted, protocol, discovered, connectors],
  );
  return {
    wallet: connected[protocol] as WalletOf<One> | undefined,
    connectors: own,
    connect,
    disconnect: useCallback(() => disconnect(protocol), [disconnect, protocol]),
    openDialog: host?.openDialog,
  };
}
