import { useMemo } from 'react';
import type { Protocol, WalletConnector } from './connector.ts';
import { useInjectedWallets } from './injected.ts';
import { useStandardWallets } from './wallet-standard.ts';

/** Returns the wallets that announce themselves in this browser, except those of the protocol that the host manages. */
export function useDiscoveredWallets(
  isEnabled: boolean,
  hostProtocol: Protocol | undefined,
): readonly WalletConnector[] {
  const injected = useInjectedWallets(isEnabled && hostProtocol !== 'ethereum');
  const standard = useStandardWallets(isEnabled && hostProtocol !== 'solana');
  return useMemo(() => [...injected, ...standard], [injected, standard]);
}
