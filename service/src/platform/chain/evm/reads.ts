import type { Hex } from 'viem';
import { ApiError } from '../../../kernel/errors.ts';
import { UpstreamFailure } from '../../outbound/failure.ts';
import { rpcError } from '../rpc/failures.ts';
import type { Rpc } from '../rpc/rpc.ts';
import type { Call } from './contract-call.ts';
import { createCallAll, type ObservedBlock, type RawResult } from './multicall.ts';
import { describeRevert } from './revert.ts';

/** Reads contracts at the latest block. Throws `contract_not_found`, `contract_reverted` or an upstream error. */
export type Reader = {
  read<T>(call: Call<T>): Promise<T>;
  /** Uses neither the cache nor a read in flight. For values that the caller may just have changed. */
  readNow<T>(call: Call<T>): Promise<T>;
  /** Counts the calls to `read` in all lanes. `hits` were answered by the cache or by a read in flight. */
  cacheCounts: Readonly<{ hits: number; misses: number }>;
  /** All readers share the cache and the calls to the node. When the node is slow, the partners take turns. */
  inLane(lane: string): Reader;
};

type ReaderOptions = {
  chain: string;
  rpc: Rpc;
  multicall: Hex | null;
  /** Under load, one read bypasses the cache every `freshnessMs` milliseconds, so that a new head block is noticed. */
  freshnessMs: number;
};

type Outcome = { value: unknown } | { error: ApiError };
type InFlightRead = { lane: string | null; outcome: Promise<Outcome> };
type PendingRead = {
  call: Call<unknown>;
  data: Hex;
  queuedAt: number;
  send(): void;
  resolve(outcome: Outcome): void;
  reject(error: unknown): void;
};

const BATCH_WINDOW_MS = 2;
const MAX_BATCH_READS = 100;
/**
 * Keeps some connections to the node free for other calls. The next batch sends the reads beyond the limit together.
 */
const MAX_OPEN_BATCHES = 8;
const MAX_PENDING_READS = 5_000;
const MAX_QUEUED_MS = 4_000;
const OWN_LANE = '';
const MAX_CACHED = 50_000;
const UNCACHED_BURST = 40;

/**
 * Identical reads in flight share one answer, and reads that arrive together share one call. Answers are cached until
 * the head block changes; under load, a cached answer is at most twice `freshnessMs` old. While reads are rare, they
 * bypass the cache, so that a client that has just seen its transaction mined also sees its effect.
 */
export function createReader({ chain, rpc, multicall, freshnessMs }: ReaderOptions): Reader {
  const callAll = createCallAll(rpc, multicall);
  const head = createHead(2 * freshnessMs);
  const uncachedReads = createTokenBucket({ intervalMs: freshnessMs, burst: UNCACHED_BURST });
  let cache = new Map<string, Outcome>();
  const inFlight = new Map<string, InFlightRead>();
  const knownContracts = new Set<Hex>();
  const queued = createTurns<PendingRead>();
  const cacheCounts = { hits: 0, misses: 0 };
  let isCollecting = false;
  let pendingReads = 0;
  let openBatches = 0;

  function read<T>(lane: string, call: Call<T>): Promise<T> {
    const cached = cache.get(call.key);
    const now = performance.now();
    if (cached !== undefined && head.isFresh(now) && !isCollecting && !uncachedReads.take(now)) {
      cacheCounts.hits++;
      return unwrap<T>(cached);
    }
    const shared = inFlight.get(call.key);
    // Does not join a read that is still waiting in another lane, because that lane's turn may come later.
    if (shared?.lane === null || shared?.lane === lane) {
      cacheCounts.hits++;
      return shared.outcome.then((outcome) => unwrap<T>(outcome));
    }
    cacheCounts.misses++;
    return readNow(lane, call);
  }

  function readNow<T>(lane: string, call: Call<T>): Promise<T> {
    return enqueue(lane, call).then((outcome) => unwrap<T>(outcome));
  }

  function enqueue(lane: string, call: Call<unknown>): Promise<Outcome> {
    if (pendingReads >= MAX_PENDING_READS) return Promise.reject(tooManyReads());
    const data = call.encode();
    pendingReads += 1;
    const { promise: outcome, resolve, reject } = withResolvers<Outcome>();
    const started: InFlightRead = { lane, outcome };
    inFlight.set(call.key, started);
    const send = () => {
      started.lane = null;
    };
    queued.add(lane, { call, data, queuedAt: performance.now(), send, resolve, reject });
    collect();
    const forget = () => {
      pendingReads -= 1;
      if (inFlight.get(call.key) === started) inFlight.delete(call.key);
    };
    outcome.then(forget, forget);
    return outcome;
  }

  /** If no batch is open, waits for more reads only until the end of this turn of the event loop. */
  function collect(): void {
    if (isCollecting || openBatches >= MAX_OPEN_BATCHES || queued.size() === 0) return;
    isCollecting = true;
    if (openBatches === 0) setImmediate(sendQueued);
    else setTimeout(sendQueued, BATCH_WINDOW_MS);
  }

  function sendQueued(): void {
    isCollecting = false;
    while (openBatches < MAX_OPEN_BATCHES && queued.size() > 0) void send(queued.take(MAX_BATCH_READS));
  }

  async function send(taken: PendingRead[]): Promise<void> {
    const sentAt = performance.now();
    const [late, batch] = partition(taken, ({ queuedAt }) => queuedAt < sentAt - MAX_QUEUED_MS);
    for (const { reject } of late) reject(tooManyReads());
    if (batch.length === 0) return;
    openBatches += 1;
    try {
      for (const entry of batch) entry.send();
      const calls = batch.map(({ call, data }) => ({ to: call.to, data }));
      const { block, results } = await callAll(calls, head.check).finally(() => {
        openBatches -= 1;
        collect();
      });
      const previousHead = head.id();
      head.observe(block, sentAt);
      // Not `clear`: V8 would keep the entries of a cleared map until the next full garbage collection.
      if (head.id() !== previousHead) cache = new Map();
      await Promise.all(batch.map((entry, index) => settle(entry, results[index], block.id)));
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }

  function tooManyReads(): ApiError {
    return rpcError(chain, new UpstreamFailure('no_response', 'too many pending reads'));
  }

  async function settle(
    { call, resolve, reject }: PendingRead,
    result: RawResult | undefined,
    blockId: string,
  ): Promise<void> {
    try {
      const outcome = await interpret(call, result);
      if (blockId === head.id() && cache.size < MAX_CACHED) cache.set(call.key, outcome);
      resolve(outcome);
    } catch (error) {
      reject(error);
    }
  }

  async function interpret({ to, decode }: Call<unknown>, result: RawResult | undefined): Promise<Outcome> {
    if (result === undefined)
      throw rpcError(chain, new UpstreamFailure('invalid_response', 'the batch has too few results'));
    if (!result.success) return { error: reverted(describeRevert(result.data)) };
    if (result.data === '0x' && !(await hasCode(to)))
      return { error: new ApiError('contract_not_found', { address: to }) };
    try {
      return { value: decode(result.data) };
    } catch {
      return { error: reverted('the contract returned data that does not match its interface') };
    }
  }

  async function hasCode(address: Hex): Promise<boolean> {
    if (knownContracts.has(address)) return true;
    const code = await rpc.request({ method: 'eth_getCode', params: [address, 'latest'] });
    if (code !== '0x' && knownContracts.size < MAX_CACHED) knownContracts.add(address);
    return code !== '0x';
  }

  const inLane = (lane: string): Reader => ({
    read: (call) => read(lane, call),
    readNow: (call) => readNow(lane, call),
    cacheCounts,
    inLane,
  });
  return inLane(OWN_LANE);
}

/** Like `Promise.withResolvers`, which Node 20 lacks. */
function withResolvers<T>() {
  let resolve: (value: T) => void = () => undefined;
  let reject: (error: unknown) => void = () => undefined;
  const promise = new Promise<T>((...settlers) => {
    [resolve, reject] = settlers;
  });
  return { promise, resolve, reject };
}

function partition<T>(values: readonly T[], test: (value: T) => boolean): [T[], T[]] {
  return [values.filter(test), values.filter((value) => !test(value))];
}

function reverted(reason: string): ApiError {
  return new ApiError('contract_reverted', { reason });
}

function unwrap<T>(outcome: Outcome): Promise<T> {
  return 'error' in outcome ? Promise.reject(copyError(outcome.error)) : Promise.resolve(outcome.value as T);
}

// Gives each request its own error object and stack trace, because many requests can get the same cached error.
function copyError({ code, details }: ApiError): ApiError {
  return new ApiError(code, details);
}

type Turns<Entry> = {
  add(lane: string, entry: Entry): void;
  /** Removes and returns up to `count` entries, taking one from each lane in turn. */
  take(count: number): Entry[];
  size(): number;
};

export function createTurns<Entry>(): Turns<Entry> {
  const lanes = new Map<string, Entry[]>();
  let size = 0;
  return {
    size: () => size,
    add: (lane, entry) => {
      const entries = lanes.get(lane) ?? [];
      lanes.set(lane, entries);
      entries.push(entry);
      size++;
    },
    take: (count) => {
      const taken: Entry[] = [];
      // Setting a lane again moves it to the end of the map, so this loop visits it again.
      for (const [lane, entries] of lanes) {
        if (taken.length === count) break;
        taken.push(...entries.splice(0, 1));
        lanes.delete(lane);
        if (entries.length > 0) lanes.set(lane, entries);
      }
      size -= taken.length;
      return taken;
    },
  };
}

type Head = {
  /** Returns whether answers for the head block may be served from the cache. */
  isFresh(now: number): boolean;
  id(): string;
  /** Records the block observed by a read that was sent at `sentAt`. */
  observe(block: ObservedBlock, sentAt: number): void;
  /** Throws `UpstreamFailure` if the block is so old that the node must have fallen out of sync. */
  check(block: ObservedBlock): void;
};

const MAX_LAG_BLOCKS = 8;
/** Without reads for so long, a lower block is accepted: the chain itself may have been rolled back. */
const HEAD_TTL_MS = 120_000;

function createHead(maxAgeMs: number): Head {
  let number = -1;
  let id = '';
  let observedAt = Number.NEGATIVE_INFINITY;
  const isRemembered = (now: number) => now - observedAt < HEAD_TTL_MS;
  return {
    isFresh: (now) => now - observedAt <= maxAgeMs,
    id: () => id,
    observe: (block, sentAt) => {
      // Either a newer answer arrived first, or the node lags slightly. Such answers are returned, but not cached.
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

/** A token bucket that refills by one token per `intervalMs`, up to `burst` tokens. */
type TokenBucket = {
  /** Takes a token and returns true, or returns false if the bucket is empty. */
  take(now: number): boolean;
};

function createTokenBucket({ intervalMs, burst }: { intervalMs: number; burst: number }): TokenBucket {
  let tokens = burst;
  let refilledAt = 0;
  return {
    take: (now) => {
      tokens = Math.min(burst, tokens + (now - refilledAt) / intervalMs);
      refilledAt = now;
      if (tokens < 1) return false;
      tokens -= 1;
      return true;
    },
  };
}
