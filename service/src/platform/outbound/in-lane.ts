import { createFairQueue, type FairQueue } from '../../kernel/fair-queue.ts';
import { UpstreamFailure, upstreamError } from './failure.ts';
import { MAX_CONNECTIONS } from './upstream.ts';

/** How long a call may wait in the queue of a provider. */
const MAX_WAIT_MS = 8_000;

/** Returns the queue in which partners wait for the provider called `name`. */
export function createCallQueue(name: string): FairQueue {
  return createFairQueue({
    concurrency: MAX_CONNECTIONS,
    maxWaitMs: MAX_WAIT_MS,
    timeout: () => upstreamError(name, new UpstreamFailure('not_sent', 'too many calls')),
  });
}

type Call = (...args: unknown[]) => Promise<unknown>;

/**
 * Returns a copy of the provider in which each method listed in `calls` first waits for its turn in the partner's
 * `lane` of the queue.
 */
export function inLane<P extends object>(
  provider: P,
  calls: readonly (keyof P)[],
  queue: FairQueue,
  lane: string,
): P {
  const own = { ...provider };
  for (const name of calls) {
    const inTurn = (...args: unknown[]) => queue.run(lane, () => (provider[name] as Call)(...args));
    own[name] = inTurn as P[keyof P];
  }
  return own;
}
