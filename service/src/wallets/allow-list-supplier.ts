import type { Hex } from 'viem';
import type { EvmChain } from '../chain/evm/client.ts';

export type AllowRequest = { chain: EvmChain; contract: Hex; wallet: Hex; offerId: string };

/** What the wallet broadcasts to be let in, and until when it is good (milliseconds since the epoch). */
export type AllowTransaction = { to: Hex; data: Hex; deadline: number };

/** The port to whoever decides that a wallet, whose owner is proven, may be let onto an allow-list. */
export type Supplier = { verifyWallet(request: AllowRequest): Promise<AllowTransaction> };
