import { UpstreamFailure } from '../../outbound/failure.ts';
import type { BlockSeen } from './multicall.ts';

/** The newest block that reads have seen, and since when it is known to be the newest. */
export type Head = {
  /** Whether answers of the head block may be served without asking again. */
  isFresh(now: number): boolean;
  id(): string;
  /** A read that was sent at `sentAt` saw this block. */
  see(block: BlockSeen, sentAt: number): void;
  /** Throws when a node is so far behind that it must have lost the chain. */
  check(block: BlockSeen): void;
};

const BEHIND = 8;
const MEMORY = 120_000;

export function createHead(maxAge: number): Head {
  let number = -1;
  let id = '';
  let seenAt = Number.NEGATIVE_INFINITY;
  const remembers = (now: number) => now - seenAt < MEMORY;
  return {
    isFresh: (now) => now - seenAt <= maxAge,
    id: () => id,
    see: (block, sentAt) => {
      // An answer that was overtaken by a newer one, or a node that lags a little: good enough to serve, not to keep.
      const older = block.number < number && remembers(sentAt);
      if (older || (block.number === number && sentAt < seenAt && block.id !== id)) return;
      number = block.number;
      id = block.id;
      seenAt = Math.max(seenAt, sentAt);
    },
    check: (block) => {
      if (block.number < number - BEHIND && remembers(performance.now())) {
        throw new UpstreamFailure(
          'invalid_response',
          `the node is at block ${block.number}, the chain at ${number}`,
        );
      }
    },
  };
}
