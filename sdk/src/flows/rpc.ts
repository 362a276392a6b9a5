import type { Hex } from 'viem';

/** What `eth_getTransactionByHash` returns for a mined or pending transaction. */
export type RpcTransaction = { hash: Hex; from: Hex; to: Hex | null; nonce: Hex; input: Hex; value: Hex };

export type Log = { address: Hex; topics: Hex[]; data: Hex };

/** A receipt as `eth_getTransactionReceipt` returns it. */
export type Receipt = { transactionHash: Hex; blockNumber: Hex; status: Hex; logs: Log[] };
