import type { Hex } from 'viem';
import { resultOf } from '../rpc/reply.ts';
import type { EvmChain } from './client.ts';

export type EventLog = { address: Hex; topics: Hex[]; data: Hex };

export type Receipt = {
  transactionHash: Hex;
  blockNumber: Hex;
  blockHash: Hex;
  status: Hex;
  gasUsed: Hex;
  /** Some nodes leave it out. */
  effectiveGasPrice?: Hex;
  logs: EventLog[];
};

/**
 * Returns a digest of the receipt. Two receipts have the same digest if they agree on the transaction, its block, its
 * status and its events.
 */
export function digestReceipt({ transactionHash, blockHash, status, logs }: Receipt): string {
  const events = logs.map(({ address, topics, data }) => [address, ...topics, data]);
  return `${transactionHash} ${JSON.stringify([blockHash, status, events]).toLowerCase()}`;
}

/** Reads the receipts in one batch, in the order of `hashes`. Returns null for each transaction that is not mined. */
export async function readReceipts({ rpc }: EvmChain, hashes: readonly Hex[]): Promise<(Receipt | null)[]> {
  if (hashes.length === 0) return [];
  const replies = await rpc.batch(
    hashes.map((hash) => ({ method: 'eth_getTransactionReceipt', params: [hash] })),
  );
  return hashes.map((_, i) => resultOf(replies[i]) as Receipt | null);
}
