import type { Wallet } from '../../flows/wallet.ts';

export type Protocol = Wallet['protocol'];

/**
 * Connects to a wallet. The SDK detects extensions that announce themselves (EIP-6963, and Wallet Standard for Solana);
 * pass others, such as WalletConnect, to `CausewayProvider` as `wallets`.
 *
 * @example
 * ```ts
 * import { type WalletConnector } from '@causeway/sdk/react';
 *
 * const paper: WalletConnector = {
 *   id: 'paper',
 *   name: 'Paper wallet',
 *   protocol: 'ethereum',
 *   connect: async () => {
 *     throw new Error('Unfold it first.');
 *   },
 * };
 * console.log(paper.name);
 * ```
 */
export type WalletConnector<One extends Wallet = Wallet> = {
  id: string;
  name: string;
  /** An image URL; `data:` URLs work too. */
  icon?: string | undefined;
  protocol: One['protocol'];
  /** May prompt the user. */
  connect(): Promise<One>;
  /** Called after a page reload. Returns the wallet if it is still connected, without prompting the user. */
  restore?(): Promise<One | null>;
};

/**
 * A wallet connection that the host app manages itself, for example through wagmi. For the connection's protocol, the
 * SDK then uses only this connection's wallet: it does not detect, connect or remember any other wallet.
 *
 * @example
 * ```ts
 * import type { WalletConnection } from '@causeway/sdk/react';
 *
 * const connection: WalletConnection = {
 *   protocol: 'ethereum',
 *   wallet: null, // not connected yet
 *   openDialog: () => console.log("the app's own wallet dialog"),
 * };
 * console.log(connection.protocol);
 * ```
 */
export type WalletConnection = {
  protocol: Protocol;
  /** The connected wallet, or null if there is none. Pass the same object until the account or the provider changes. */
  wallet: Wallet | null;
  /** Opens the app's own wallet dialog. If omitted, the SDK shows its own dialog with the wallets in `connectors`. */
  openDialog?: (() => void) | undefined;
  connectors?: readonly WalletConnector[] | undefined;
  disconnect?: (() => void) | undefined;
};

/**
 * What the host app passes as its wallet: a wallet or a `WalletConnection`. Null means that the host manages EVM
 * wallets, but none is connected.
 */
export type HostWallet = Wallet | WalletConnection | null;

/** Returns the host's connection, or undefined if the SDK manages connections itself. */
export function connectionOf(wallet: HostWallet | undefined): WalletConnection | undefined {
  if (wallet === undefined) return undefined;
  if (wallet === null) return { protocol: 'ethereum', wallet };
  return 'wallet' in wallet ? wallet : { protocol: wallet.protocol, wallet };
}

/** Returns the connectors for a protocol. If several have the same id, the first wins. */
export function connectorsFor(
  protocol: Protocol,
  ...lists: readonly (readonly WalletConnector[])[]
): WalletConnector[] {
  const byId = new Map<string, WalletConnector>();
  for (const one of lists.flat()) if (one.protocol === protocol && !byId.has(one.id)) byId.set(one.id, one);
  return [...byId.values()];
}
