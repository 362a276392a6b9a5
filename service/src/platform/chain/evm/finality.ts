import { hexToBigInt, isHex } from 'viem/utils';
import { findNodeError } from '../rpc/failures.ts';
import type { Block } from './blocks.ts';
import type { EvmChain } from './client.ts';
import { INTERNAL_ERROR } from './protocol.ts';

/**
 * Three block numbers:
 * - `confirmed`: a reorganization is unlikely to undo blocks up to this one.
 * - `final`: blocks up to this one count as irreversible.
 * - `released`: `final` or an older block. A transaction that failed in a block up to this one, or lost its nonce to
 *   another transaction in such a block, can no longer take effect, so its work can be sent again. Do not use `final`
 *   to decide that.
 */
export type Finality = { confirmed: bigint; final: bigint; released: bigint };

/**
 * The minimum depth of `released` if the node reports no finalized block. Test chains need this minimum, because their
 * `refundDepth` is only 1.
 */
const RELEASE_BLOCKS = 64;

/**
 * Reads the `Finality` of the chain at `head`. If the chain has finality tags, uses the node's `safe` and `finalized`
 * blocks: counting blocks would not work for a rollup, because a rollup's blocks are settled by its parent chain. If
 * the chain has no tags or the node does not report the tagged blocks, counts blocks, using the depths in `chains.ts`.
 */
export async function readFinality(
  { rpc, facts: { confirmations, refundDepth, finalityTags } }: EvmChain,
  head: Block,
): Promise<Finality> {
  const atDepth = (depth: number) => head.number + 1n - BigInt(depth);
  const byDepth = {
    confirmed: atDepth(confirmations),
    final: atDepth(refundDepth),
    released: atDepth(Math.max(refundDepth, RELEASE_BLOCKS)),
  };
  if (!finalityTags) return byDepth;
  const replies = await rpc.batch(
    ['safe', 'finalized'].map((tag) => ({ method: 'eth_getBlockByNumber', params: [tag, false] })),
  );
  const [safe, finalized] = replies.map((reply) => {
    // Nodes without the block say so. A node that fails must not lower what counts as final.
    if ('error' in reply && (findNodeError(reply.error)?.code ?? INTERNAL_ERROR) === INTERNAL_ERROR)
      throw reply.error;
    const { number } = ('result' in reply ? (reply.result ?? {}) : {}) as { number?: unknown };
    return isHex(number) ? hexToBigInt(number) : null;
  });
  return {
    confirmed: safe ?? byDepth.confirmed,
    final: finalized ?? byDepth.final,
    released: finalized ?? byDepth.released,
  };
}
