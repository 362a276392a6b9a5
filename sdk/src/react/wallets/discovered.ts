import { useMemo } from 'react';
import type { Protocol, WalletConnector } from './connector.ts';
import { useInjectedWallets } from './injected.ts';
import { useStandardWallets } from './wallet-standard.ts';

/**
 * Returns the wallets that announce themselves in this browser. Leaves out the wallets of `hostProtocol`, because the
 * host app manages the connections for that protocol.
 */
export function useDiscoveredWallets(
  isEnabled: boolean,
  hostProtocol: Protocol | undefined,
): readonly WalletConnector[] {
  const injected = useInjectedWallets(isEnabled && hostProtocol !== 'ethereum');
  const standard = useStandardWallets(isEnabled && hostProtocol !== 'solana');
  return useMemo(() => [...injected, ...standard], [injected, standard]);
}
