import type { Wallet } from '../../flows/wallet.ts';

export type Protocol = Wallet['protocol'];

/**
 * A way to a wallet. Extensions that announce themselves (EIP-6963) are found by the SDK; give others, such as
 * WalletConnect or a Solana wallet, to `CausewayProvider` as `wallets`.
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
 *     throw new Error('Fold it out first.');
 *   },
 * };
 * console.log(paper.name);
 * ```
 */
export type WalletConnector<One extends Wallet = Wallet> = {
  id: string;
  name: string;
  /** An address of a picture, `data:` too. */
  icon?: string | undefined;
  protocol: One['protocol'];
  /** May ask the user. */
  connect(): Promise<One>;
  /** After a reload: the wallet if it is still connected, without asking the user. */
  restore?(): Promise<One | null>;
};

/** The connectors of a protocol, extensions first; one id once. */
export function connectorsFor(
  protocol: Protocol,
  ...lists: readonly (readonly WalletConnector[])[]
): WalletConnector[] {
  const known = new Map<string, WalletConnector>();
  for (const one of lists.flat()) if (one.protocol === protocol && !known.has(one.id)) known.set(one.id, one);
  return [...known.values()];
}
