import { hexToBigInt, isHex } from 'viem/utils';
import type { Block } from './blocks.ts';
import type { EvmChain } from './client.ts';

/**
 * Three block numbers. A reorganization is unlikely to undo blocks up to `confirmed`, and cannot undo blocks up to
 * `final`. `released` is the same block as `final` or an older one. Code that must be sure that a transaction can no
 * longer be mined waits for `released`.
 */
export type Finality = { confirmed: bigint; final: bigint; released: bigint };

/**
 * The minimum depth of `released` if the node reports no finalized block. It matters on test chains, whose
 * `refundDepth` is only 1.
 */
const RELEASE_BLOCKS = 64;

/**
 * Determines which blocks up to `head` are settled. On chains with finality tags, the node's `safe` and `finalized`
 * blocks decide: a block count says nothing about a roll-up, whose blocks are settled by its parent chain. On other
 * chains, and for nodes without the tags, the depths in `chains.ts` apply.
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
    const { number } = ('result' in reply ? (reply.result ?? {}) : {}) as { number?: unknown };
    return isHex(number) ? hexToBigInt(number) : null;
  });
  return {
    confirmed: safe ?? byDepth.confirmed,
    final: finalized ?? byDepth.final,
    released: finalized ?? byDepth.released,
  };
}
