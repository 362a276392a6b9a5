import type { Hex } from 'viem';
import { type Block, readBlocks } from '../chain/evm/blocks.ts';
import type { EvmChain } from '../chain/evm/client.ts';
import type { Finality } from '../chain/evm/finality.ts';

/**
 * The mined transactions that wait for more blocks, by transaction id. Each has the block in which it was found. Their
 * receipts are not read while they wait: on a chain with late finality, hundreds of transactions wait, and reading all
 * their receipts in every round would cost more than the rest of settlement.
 */
export type Confirming = Map<string, { blockNumber: bigint; blockHash: Hex }>;

/**
 * Removes the transactions whose receipts must be read again: transactions that are confirmed now, and transactions
 * whose block is no longer on the chain or is above the head. Compares block hashes from the highest block down, and
 * stops at the first block that is still on the chain. The blocks of the remaining transactions are normally its
 * ancestors and therefore on the chain too. If one of them is from another branch, settlement notices it, because it
 * compares the transaction's block again before it records the outcome.
 */
export async function forgetConfirmed(
  chain: EvmChain,
  confirming: Confirming,
  { number, confirmed }: Block & Finality,
): Promise<void> {
  const highestFirst = [...confirming].sort(([, a], [, b]) => (a.blockNumber > b.blockNumber ? -1 : 1));
  let isOnChain = false;
  for (const [id, { blockNumber, blockHash }] of highestFirst) {
    if (!isOnChain && blockNumber <= number) {
      const [block] = await readBlocks(chain, [blockNumber]);
      isOnChain = block.hash === blockHash;
    }
    if (!isOnChain || blockNumber <= confirmed) confirming.delete(id);
  }
}
