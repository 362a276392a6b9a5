import { useCallback, useMemo, useSyncExternalStore } from 'react';
import { type Connector, useConfig } from 'wagmi';
import { connect, disconnect, watchConnectors } from 'wagmi/actions';
import type { EvmWallet } from '../flows/wallet.ts';
import type { WalletConnection, WalletConnector } from '../react/wallets/connector.ts';
import { iconOf } from '../react/wallets/discovery.ts';

export type UseWagmiWalletOptions = {
  /**
   * Opens your app's own wallet dialog, such as RainbowKit's or AppKit's. Default: the SDK's dialog, which lists
   * wagmi's connectors.
   */
  openDialog?: (() => void) | undefined;
};

type Config = ReturnType<typeof useConfig>;

/**
 * Returns a connection for `CausewayProvider` that uses the wallet, account and connectors of the app's wagmi
 * configuration, including WalletConnect. Works with wagmi 2 and 3.
 *
 * @example
 * ```tsx
 * import { browserToken, createCauseway } from '@causeway/sdk';
 * import { CausewayProvider, OffersGrid } from '@causeway/sdk/react';
 * import { useWagmiWallet } from '@causeway/sdk/wagmi';
 *
 * const causeway = createCauseway({ baseUrl: 'https://api.example.com', accessToken: browserToken() });
 *
 * // Inside <WagmiProvider>
 * export function Investments() {
 *   return (
 *     <CausewayProvider client={causeway} wallet={useWagmiWallet()}>
 *       <OffersGrid />
 *     </CausewayProvider>
 *   );
 * }
 * ```
 */
export function useWagmiWallet({ openDialog }: UseWagmiWalletOptions = {}): WalletConnection {
  const config = useConfig();
  const subscribe = useCallback((notify: () => void) => config.subscribe((state) => state, notify), [config]);
  const state = useSyncExternalStore(
    subscribe,
    () => config.state,
    () => null,
  );
  const connection = state?.connections.get(state.current ?? '');
  const connector = state?.status === 'connected' ? connection?.connector : undefined;
  const address = connection?.accounts[0];
  const wallet = useMemo(
    () => (connector === undefined || address === undefined ? null : walletOf(config, connector, address)),
    [config, connector, address],
  );
  const connectors = useWagmiConnectors(config);
  return useMemo(
    () => ({
      ...{ protocol: 'ethereum', wallet, connectors, openDialog },
      disconnect: () => void disconnect(config).catch(() => undefined),
    }),
    [config, wallet, connectors, openDialog],
  );
}

function useWagmiConnectors(config: Config): readonly WalletConnector[] {
  const subscribe = useCallback(
    (notify: () => void) => watchConnectors(config, { onChange: notify }),
    [config],
  );
  const found = useSyncExternalStore(
    subscribe,
    () => config.connectors,
    () => null,
  );
  return useMemo(() => (found ?? []).map((connector) => connectorOf(config, connector)), [config, found]);
}

function connectorOf(config: Config, connector: Connector): WalletConnector<EvmWallet> {
  return {
    id: connector.uid,
    name: connector.name,
    icon: iconOf(connector.icon),
    protocol: 'ethereum',
    connect: async () => {
      const { accounts } = await connect(config, { connector });
      const [address] = accounts;
      if (address === undefined)
        throw new Error(`${connector.name} returned no account. Unlock it and try again.`);
      return walletOf(config, connector, address);
    },
  };
}

/**
 * Returns a wallet that asks the connector for its provider on every call, because a wagmi connector loads its provider
 * only when needed.
 */
function walletOf(config: Config, connector: Connector, address: `0x${string}`): EvmWallet {
  const send = async (call: { method: string; params?: unknown }): Promise<unknown> => {
    const provider = (await connector.getProvider()) as EvmWallet['provider'];
    return provider.request(call);
  };
  const request = async (call: { method: string; params?: unknown }): Promise<unknown> => {
    if (call.method !== 'wallet_switchEthereumChain' || connector.switchChain === undefined)
      return send(call);
    const [{ chainId }] = call.params as [{ chainId: string }];
    const known = config.chains.find(({ id }) => id === Number(chainId));
    // The connector switches its wallet to the chain. If the wallet lacks the chain, the connector adds it from the
    // app's configuration.
    return known === undefined ? send(call) : connector.switchChain({ chainId: known.id });
  };
  return { protocol: 'ethereum', address: address.toLowerCase() as `0x${string}`, provider: { request } };
}
