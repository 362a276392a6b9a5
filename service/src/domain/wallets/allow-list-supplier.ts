import type { Hex } from 'viem';
import type { EvmChain } from '../../platform/chain/evm/client.ts';

export type AllowRequest = { chain: EvmChain; contract: Hex; wallet: Hex; offerId: string };

/** The transaction that the wallet broadcasts to join an allow-list. `deadline` is in epoch milliseconds. */
export type AllowTransaction = { to: Hex; data: Hex; deadline: number };

/**
 * The interface to the supplier, which admits a wallet to an allow-list once the user has proven ownership of the
 * wallet.
 */
export type Supplier = {
  /**
   * Returns whether the supplier can admit wallets to this allow-list. Returns false if the issuer maintains the list
   * itself.
   */
  canAdmit(list: Pick<AllowRequest, 'chain' | 'contract'>): Promise<boolean>;
  verifyWallet(request: AllowRequest): Promise<AllowTransaction>;
};
