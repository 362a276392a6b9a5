import { UpstreamFailure } from '../../outbound/failure.ts';
import type { ObservedBlock } from './multicall.ts';

/** The newest block that any read has observed. */
export type Head = {
  /** Returns whether answers for the head block may be served from the cache. */
  isFresh(now: number): boolean;
  id(): string;
  /** Records the block observed by a read that was sent at `sentAt`. */
  observe(block: ObservedBlock, sentAt: number): void;
  /** Throws `UpstreamFailure` if the block is so old that the node must have fallen out of sync. */
  check(block: ObservedBlock): void;
};

const MAX_LAG_BLOCKS = 8;
/**
 * After this time without reads, a lower block is accepted as the new head, because the chain itself may have been
 * rolled back.
 */
const HEAD_TTL_MS = 120_000;

export function createHead(maxAgeMs: number): Head {
  let number = -1;
  let id = '';
  let observedAt = Number.NEGATIVE_INFINITY;
  const isRemembered = (now: number) => now - observedAt < HEAD_TTL_MS;
  return {
    isFresh: (now) => now - observedAt <= maxAgeMs,
    id: () => id,
    observe: (block, sentAt) => {
      // Ignores an outdated block: either a newer answer arrived first, or the node lags slightly. Answers for such a
      // block are returned, but not cached.
      const isOlder = block.number < number && isRemembered(sentAt);
      if (isOlder || (block.number === number && sentAt < observedAt && block.id !== id)) return;
      number = block.number;
      id = block.id;
      observedAt = Math.max(observedAt, sentAt);
    },
    check: (block) => {
      if (block.number < number - MAX_LAG_BLOCKS && isRemembered(performance.now())) {
        throw new UpstreamFailure(
          'invalid_response',
          `the node is at block ${block.number}, but the chain is at block ${number}`,
        );
      }
    },
  };
}
