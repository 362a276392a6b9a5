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
  /** Returns the wallet after a reload if it is still connected, without prompting the user. */
  restore?(): Promise<One | null>;
};

/** Returns the connectors for a protocol. If several have the same id, the first wins. */
export function connectorsFor(
  protocol: Protocol,
  ...lists: readonly (readonly WalletConnector[])[]
): WalletConnector[] {
  const byId = new Map<string, WalletConnector>();
  for (const one of lists.flat()) if (one.protocol === protocol && !byId.has(one.id)) byId.set(one.id, one);
  return [...byId.values()];
}
