import type { EvmWallet, SolanaWallet, Wallet } from '../../flows/wallet.ts';
import { useCausewayContext } from '../context.ts';
import { connectorsFor, type Protocol, type WalletConnector } from '../wallets/connector.ts';
import { useInjectedWallets } from '../wallets/injected.ts';
import { useStandardWallets } from '../wallets/wallet-standard.ts';

type WalletOf<One extends Protocol> = One extends 'ethereum' ? EvmWallet : SolanaWallet;

export type ConnectedWallet<One extends Protocol> = {
  wallet: WalletOf<One> | undefined;
  /** Detected extensions, then the wallets passed to the provider. */
  connectors: readonly WalletConnector[];
  connect(connector: WalletConnector): Promise<Wallet>;
  /** Forgets the wallet on this page; the wallet itself may keep the permission. */
  disconnect(): void;
};

/**
 * Returns the wallet connected to this page for a protocol, and the connectors for choosing one.
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
  const { connected, connectors, connect, disconnect } = useCausewayContext();
  const injected = useInjectedWallets();
  const standard = useStandardWallets();
  return {
    wallet: connected[protocol] as WalletOf<One> | undefined,
    connectors: connectorsFor(protocol, injected, standard, connectors),
    connect,
    disconnect: () => disconnect(protocol),
  };
}
