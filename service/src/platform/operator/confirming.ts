import type { Hex } from 'viem';
import type { EvmChain } from '../chain/evm/client.ts';
import type { Finality } from '../chain/evm/node-reads.ts';
import { type Block, readBlocks } from '../chain/evm/node-reads.ts';

/**
 * Mined transactions that are waiting for more blocks. Maps the transaction id to the block in which the transaction
 * was found. Receipts are not read again while their transactions wait. On a chain with slow finality, hundreds of
 * transactions can be waiting, and reading all their receipts in every round would cost more than the rest of
 * settlement.
 */
export type Confirming = Map<string, { blockNumber: bigint; blockHash: Hex }>;

/**
 * Removes the transactions whose receipts must be read again: those that are confirmed now, and those whose block is
 * above the head or no longer on the chain. Checks from the highest block down, and stops at the first block that is on
 * the chain, because lower blocks are normally its ancestors. If a lower block is from another branch after all,
 * settlement notices when it checks the block again before recording the outcome.
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
