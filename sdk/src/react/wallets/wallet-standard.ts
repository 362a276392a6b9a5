import type { SolanaChain } from '../../chains.ts';
import type { SolanaWallet } from '../../flows/wallet.ts';
import type { WalletConnector } from './connector.ts';
import { discoverWallets, iconOf } from './discovery.ts';

type Account = { address: string; chains: readonly string[] };
type Features = {
  'standard:connect'?: { connect(input?: { silent?: boolean }): Promise<{ accounts: readonly Account[] }> };
  'solana:signMessage'?: {
    signMessage(input: {
      account: Account;
      message: Uint8Array;
    }): Promise<readonly { signature: Uint8Array }[]>;
  };
  'solana:signAndSendTransaction'?: {
    signAndSendTransaction(input: TransactionInput): Promise<readonly { signature: Uint8Array }[]>;
  };
  'solana:signTransaction'?: {
    signTransaction(input: TransactionInput): Promise<readonly { signedTransaction: Uint8Array }[]>;
  };
};
type TransactionInput = { account: Account; transaction: Uint8Array; chain: string };

/** What a browser extension registers under the Wallet Standard. */
type StandardWallet = { name: string; icon: string; features: Features };

const CHAIN_IDS: Readonly<Record<SolanaChain, string>> = {
  solana_mainnet: 'solana:mainnet',
  solana_devnet: 'solana:devnet',
};

/**
 * Returns the connector for a Solana wallet, or null for any other wallet. Also returns null for a malformed wallet,
 * because any script on the page can register one.
 */
function connectorOf(wallet: StandardWallet): WalletConnector<SolanaWallet> | null {
  const { name, icon, features } = wallet ?? {};
  const connecting = features?.['standard:connect'];
  if (typeof name !== 'string' || connecting === undefined) return null;
  if (features['solana:signMessage'] === undefined) return null;
  const open = async (silent: boolean): Promise<SolanaWallet | null> => {
    const { accounts } = await connecting.connect({ silent });
    const account = accounts.find(({ chains }) => chains.some((chain) => chain.startsWith('solana:')));
    return account === undefined ? null : walletOf(account, features);
  };
  return {
    id: `wallet-standard.${name}`,
    name,
    icon: iconOf(icon),
    protocol: 'solana',
    connect: async () => {
      const connected = await open(false);
      if (connected === null) throw new Error(`${name} returned no Solana account. Unlock it and try again.`);
      return connected;
    },
    restore: () => open(true),
  };
}

function walletOf(account: Account, features: Features): SolanaWallet {
  const signing = features['solana:signMessage'];
  const sending = features['solana:signAndSendTransaction'];
  const signingTransactions = features['solana:signTransaction'];
  return {
    protocol: 'solana',
    address: account.address,
    signMessage: async (message) => first(await signing?.signMessage({ account, message })).signature,
    ...(sending !== undefined && {
      signAndSendTransaction: async (transaction, chain) => {
        const input = { account, transaction, chain: CHAIN_IDS[chain] };
        return first(await sending.signAndSendTransaction(input)).signature;
      },
    }),
    ...(signingTransactions !== undefined && {
      signTransaction: async (transaction, chain) => {
        const input = { account, transaction, chain: CHAIN_IDS[chain] };
        return first(await signingTransactions.signTransaction(input)).signedTransaction;
      },
    }),
  };
}

function first<Output>(outputs: readonly Output[] | undefined): Output {
  const [output] = outputs ?? [];
  if (output === undefined) throw new Error('The wallet returned nothing.');
  return output;
}

/**
 * Returns the Solana wallets that register themselves in this browser (Wallet Standard). Returns an empty list if
 * `isEnabled` is false.
 *
 * @example
 * ```tsx
 * import { useStandardWallets } from '@causeway/sdk/react';
 *
 * function SolanaExtensions() {
 *   return <p>{useStandardWallets().map(({ name }) => name).join(', ')}</p>;
 * }
 * ```
 */
export const useStandardWallets = discoverWallets<SolanaWallet>((page, add) => {
  const register = (...wallets: StandardWallet[]) => {
    add(wallets.map(connectorOf).filter((one) => one !== null));
    return () => undefined;
  };
  // Extensions that load later announce themselves with this event. Extensions that are already loaded respond to the
  // `app-ready` event below.
  page.addEventListener('wallet-standard:register-wallet', (event) => {
    const { detail } = event as CustomEvent<unknown>;
    if (typeof detail === 'function') detail({ register });
  });
  page.dispatchEvent(new CustomEvent('wallet-standard:app-ready', { detail: { register } }));
});
