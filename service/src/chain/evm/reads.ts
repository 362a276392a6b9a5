import type { Hex } from 'viem';
import { ApiError } from '../../errors.ts';
import { UpstreamFailure } from '../../outbound/failure.ts';
import { rpcError } from '../rpc/failures.ts';
import type { Rpc } from '../rpc/rpc.ts';
import { createTokenBucket } from '../token-bucket.ts';
import type { Call } from './contract-call.ts';
import { createHead } from './head.ts';
import { createCallAll, type RawResult } from './multicall.ts';
import { describeRevert } from './revert.ts';

/** Reads contracts on the latest block. Throws `contract_not_found`, `contract_reverted` or an upstream error. */
export type Reader = {
  read<T>(call: Call<T>): Promise<T>;
  /** Bypasses the cache and does not join a read in flight. Use it for values that the caller may just have changed. */
  readNow<T>(call: Call<T>): Promise<T>;
};

export type ReaderOptions = {
  chain: string;
  rpc: Rpc;
  multicall: Hex | null;
  /** Minimum milliseconds between two checks for a new head block under load. */
  freshnessMs: number;
};

type Outcome = { value: unknown } | { error: ApiError };
type PendingRead = {
  call: Call<unknown>;
  data: Hex;
  resolve(outcome: Outcome): void;
  reject(error: unknown): void;
};

const BATCH_WINDOW_MS = 2;
const MAX_BATCH_READS = 100;
const MAX_PENDING_READS = 5_000;
const MAX_CACHED = 50_000;
const UNCACHED_BURST = 40;

/**
 * Shares one answer among identical reads in flight, sends reads that arrive together in one call, and caches answers
 * until the head block changes. While reads are rare, each one goes to the chain, so that a client that has just seen
 * its transaction mined also sees the effect. Under load, a cached answer is at most twice `freshnessMs` old.
 */
export function createReader({ chain, rpc, multicall, freshnessMs }: ReaderOptions): Reader {
  const callAll = createCallAll(rpc, multicall);
  const head = createHead(2 * freshnessMs);
  const uncachedReads = createTokenBucket({ intervalMs: freshnessMs, burst: UNCACHED_BURST });
  const cache = new Map<string, Outcome>();
  const inFlight = new Map<string, Promise<Outcome>>();
  const knownContracts = new Set<Hex>();
  let collecting: PendingRead[] | undefined;
  let pendingReads = 0;
  let openRequests = 0;

  function read<T>(call: Call<T>): Promise<T> {
    const cached = cache.get(call.key);
    const now = performance.now();
    if (cached !== undefined && head.isFresh(now) && collecting === undefined && !uncachedReads.take(now))
      return unwrap<T>(cached);
    const shared = inFlight.get(call.key);
    if (shared !== undefined) return shared.then((outcome) => unwrap<T>(outcome));
    return readNow(call);
  }

  function readNow<T>(call: Call<T>): Promise<T> {
    return enqueue(call).then((outcome) => unwrap<T>(outcome));
  }

  function enqueue(call: Call<unknown>): Promise<Outcome> {
    if (pendingReads >= MAX_PENDING_READS)
      return Promise.reject(rpcError(chain, new UpstreamFailure('no_response', 'too many pending reads')));
    const data = call.encode();
    pendingReads += 1;
    const outcome = new Promise<Outcome>((resolve, reject) => collect({ call, data, resolve, reject }));
    inFlight.set(call.key, outcome);
    const forget = () => {
      pendingReads -= 1;
      if (inFlight.get(call.key) === outcome) inFlight.delete(call.key);
    };
    outcome.then(forget, forget);
    return outcome;
  }

  function collect(entry: PendingRead): void {
    if (collecting === undefined) {
      const batch: PendingRead[] = [];
      collecting = batch;
      // If no request is open, send the reads that this turn of the event loop collects. Otherwise wait a little for
      // more reads.
      if (openRequests === 0) setImmediate(send, batch);
      else setTimeout(send, BATCH_WINDOW_MS, batch);
    }
    collecting.push(entry);
    if (collecting.length >= MAX_BATCH_READS) collecting = undefined;
  }

  async function send(batch: PendingRead[]): Promise<void> {
    if (collecting === batch) collecting = undefined;
    const sentAt = performance.now();
    openRequests += 1;
    try {
      const calls = batch.map(({ call, data }) => ({ to: call.to, data }));
      const { block, results } = await callAll(calls, head.check).finally(() => {
        openRequests -= 1;
      });
      const previousHead = head.id();
      head.observe(block, sentAt);
      if (head.id() !== previousHead) cache.clear();
      await Promise.all(batch.map((entry, index) => settle(entry, results[index], block.id)));
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
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

  return { read, readNow };
}

function reverted(reason: string): ApiError {
  return new ApiError('contract_reverted', { reason });
}

function unwrap<T>(outcome: Outcome): Promise<T> {
  return 'error' in outcome ? Promise.reject(copyError(outcome.error)) : Promise.resolve(outcome.value as T);
}

// A cached error is thrown to many requests. Each request gets a new error object with its own stack trace.
function copyError({ code, details }: ApiError): ApiError {
  return new ApiError(code, details);
}
