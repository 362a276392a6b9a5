import type { Eip1193Provider, EvmWallet } from '../../flows/wallet.ts';
import type { WalletConnector } from './connector.ts';
import { discoverWallets, iconOf } from './discovery.ts';

type Announcement = {
  info: { uuid: string; name: string; icon: string; rdns: string };
  provider: Eip1193Provider;
};

/**
 * Returns the connector for an announced wallet, or null if the announcement is malformed. Any script on the page can
 * send an announcement.
 */
function connectorOf(announced: Partial<Announcement> | null): WalletConnector<EvmWallet> | null {
  const { info, provider } = announced ?? {};
  if (typeof info?.uuid !== 'string' || typeof info.name !== 'string') return null;
  if (typeof provider?.request !== 'function') return null;
  const requestAccount = async (method: string): Promise<EvmWallet | null> => {
    const accounts = (await provider.request({ method })) as readonly string[];
    const [address] = accounts;
    return address === undefined
      ? null
      : { protocol: 'ethereum', address: address.toLowerCase() as `0x${string}`, provider };
  };
  return {
    // Uses the reverse DNS name as the id, because the uuid changes with every page load.
    id: info.rdns || info.uuid,
    name: info.name,
    icon: iconOf(info.icon),
    protocol: 'ethereum',
    connect: async () => {
      const wallet = await requestAccount('eth_requestAccounts');
      if (wallet === null) throw new Error(`${info.name} returned no account. Unlock it and try again.`);
      return wallet;
    },
    restore: () => requestAccount('eth_accounts'),
  };
}

/**
 * Returns the wallet extensions that announce themselves in this browser (EIP-6963). Returns an empty list if
 * `isEnabled` is false.
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
export const useInjectedWallets = discoverWallets<EvmWallet>((page, add) => {
  page.addEventListener('eip6963:announceProvider', (event) => {
    const connector = connectorOf((event as CustomEvent<Announcement>).detail);
    if (connector !== null) add([connector]);
  });
  page.dispatchEvent(new Event('eip6963:requestProvider'));
});
