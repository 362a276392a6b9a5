import { isIP } from 'node:net';
import { Pool } from 'undici';
import { createFairQueue } from '../../../kernel/fair-queue.ts';
import { createCircuitBreaker } from '../../outbound/circuit-breaker.ts';
import {
  failureOfError,
  failureOfStatus,
  UpstreamFailure,
  type UpstreamFailureKind,
} from '../../outbound/failure.ts';
import { sendHttpRequest } from '../../outbound/http-request.ts';
import { NodeError } from './failures.ts';

export type RpcCall = { method: string; params: unknown };

/**
 * A `NodeError` answers the call, such as a revert. After an `UpstreamFailure`, `Rpc` asks another node, and returns
 * an `ApiError` if none can answer.
 */
export type RpcReply = { result: unknown } | { error: Error };

export type Endpoint = {
  /** The name of the provider that runs the endpoint. Endpoints of one provider are not independent of each other. */
  provider: string;
  /**
   * If the answer is true while the circuit is open, the caller must send its call: it is the probe that decides
   * whether the circuit closes.
   */
  isAvailable(): boolean;
  isTrusted(now: number): boolean;
  /**
   * One HTTP request. If all connections are in use, waits in `lane`. Throws `UpstreamFailure` if there is no valid
   * response.
   */
  post(calls: RpcCall[], timeoutMs: number, lane: string): Promise<RpcReply[]>;
  /** Tells calls to prefer other endpoints for a while, because this one lags behind or has sent a bad response. */
  distrust(forMs?: number): void;
  /** Excludes the endpoint while it serves another chain. */
  exclude(isExcluded: boolean): void;
  isExcluded(): boolean;
  outcomes: Readonly<Partial<Record<RpcOutcome, number>>>;
  close(): Promise<void>;
};

type RpcOutcome = 'answered' | UpstreamFailureKind;

const MAX_CONNECTIONS = 16;
const FAILURES_TO_OPEN = 3;
const MAX_PAUSE_MS = 2_000;
const MAX_WAIT_MS = 2_000;
const DISTRUST_MS = 1_000;
const MAX_RESPONSE_BYTES = 32 * 1_048_576;

/**
 * Null if the error answers the call: a revert, or a transaction that the node rejects. Otherwise another node may be
 * able to answer.
 */
export type ClassifyError = (method: string, error: NodeError) => 'rate_limited' | 'invalid_response' | null;

export function openEndpoint(url: string, classifyError: ClassifyError): Endpoint {
  const { origin, pathname, search, username, password } = new URL(url);
  const provider = providerName(url);
  const pool = new Pool(origin, { connections: MAX_CONNECTIONS, pipelining: 1, keepAliveTimeout: 4_000 });
  const credentials = username === '' ? {} : { authorization: basicAuthorization(username, password) };
  const circuit = createCircuitBreaker({ failuresToOpen: FAILURES_TO_OPEN, maxPauseMs: MAX_PAUSE_MS });
  const connections = createFairQueue({
    concurrency: MAX_CONNECTIONS,
    maxWaitMs: MAX_WAIT_MS,
    timeout: () => new UpstreamFailure('no_response', 'no free connection'),
  });
  const outcomes: Partial<Record<RpcOutcome, number>> = {};
  const count = (outcome: RpcOutcome) => {
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  };
  let distrustedUntil = 0;
  let excluded = false;

  const distrust = (forMs = DISTRUST_MS): void => {
    distrustedUntil = Math.max(distrustedUntil, performance.now() + forMs);
  };

  /** An invalid response does not keep calls waiting for long, so calls only prefer other endpoints for a while. */
  function recordFailure({ kind, asksToWait, retryAfterSeconds }: UpstreamFailure): void {
    if (asksToWait) circuit.pause(retryAfterSeconds * 1000);
    else if (kind === 'invalid_response') {
      circuit.succeed();
      distrust();
    } else circuit.fail();
  }

  async function post(calls: RpcCall[], timeoutMs: number, lane: string): Promise<RpcReply[]> {
    const deadline = performance.now() + timeoutMs;
    const leave = await connections.take(lane, timeoutMs).catch((error: unknown) => {
      // A lack of free connections is not the endpoint's fault. But while the circuit is open, this call may be the
      // probe that other calls wait for.
      if (!circuit.isClosed()) circuit.fail();
      throw error;
    });
    try {
      const remaining = Math.max(1, deadline - performance.now());
      const { status, text } = await postCalls(pool, `${pathname}${search}`, credentials, calls, remaining);
      const replies = namingStatus(status, () => readReplies(text, calls, classifyError));
      const hasFailed = replies.some(isFailed);
      if (hasFailed) distrust();
      circuit.succeed();
      count(hasFailed ? 'invalid_response' : 'answered');
      return replies;
    } catch (error) {
      const failure = failureOfError(error);
      recordFailure(failure);
      count(failure.kind);
      throw failure;
    } finally {
      leave();
    }
  }

  return {
    provider,
    isAvailable: () => circuit.wait() === 0,
    isTrusted: (now) => now >= distrustedUntil && circuit.isClosed(),
    post,
    distrust,
    exclude: (isExcluded) => {
      excluded = isExcluded;
    },
    isExcluded: () => excluded,
    outcomes,
    close: () => pool.destroy(),
  };
}

function basicAuthorization(username: string, password: string): string {
  return `Basic ${Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64')}`;
}

async function postCalls(
  pool: Pool,
  path: string,
  credentials: Record<string, string>,
  calls: RpcCall[],
  timeoutMs: number,
): Promise<{ status: number; text: string }> {
  const requests = calls.map(({ method, params }, id) => ({ jsonrpc: '2.0', id, method, params }));
  const response = await sendHttpRequest(pool, {
    method: 'POST',
    path,
    headers: { 'content-type': 'application/json', ...credentials },
    body: JSON.stringify(calls.length === 1 ? requests[0] : requests),
    timeoutMs,
    maxBytes: MAX_RESPONSE_BYTES,
  });
  const failure = failureOfStatus(response);
  if (failure !== undefined) throw failure;
  return response;
}

/**
 * Adds the HTTP error status to the message: a provider that refuses an API key does not always answer in JSON-RPC.
 */
function namingStatus<T>(status: number, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (status < 400 || !(error instanceof UpstreamFailure) || error.kind !== 'invalid_response') throw error;
    throw new UpstreamFailure('invalid_response', `HTTP ${status}: ${error.message}`, { cause: error.cause });
  }
}

export function isFailed(reply: RpcReply): boolean {
  return 'error' in reply && reply.error instanceof UpstreamFailure;
}

function readReplies(text: string, calls: readonly RpcCall[], classifyError: ClassifyError): RpcReply[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (cause) {
    throw new UpstreamFailure('invalid_response', 'the body is not JSON', { cause });
  }
  // A node that rejects a whole batch answers with a single object.
  if (calls.length === 1 || !Array.isArray(parsed))
    return calls.map(({ method }) => readReply(parsed, method, classifyError));
  const byId = new Map(parsed.map((each: { id?: unknown } | null) => [each?.id, each]));
  return calls.map(({ method }, id) => readReply(byId.get(id), method, classifyError));
}

function readReply(reply: unknown, method: string, classifyError: ClassifyError): RpcReply {
  const { result, error } = (reply ?? {}) as {
    result?: unknown;
    error?: { code?: unknown; message?: unknown; data?: unknown };
  };
  if (error !== undefined && error !== null) {
    if (typeof error.code !== 'number')
      throw new UpstreamFailure('invalid_response', 'the error has no code');
    const nodeError = new NodeError(error.code, String(error.message ?? ''), error.data);
    const kind = classifyError(method, nodeError);
    if (kind === null) return { error: nodeError };
    const failure = new UpstreamFailure(kind, `node error ${error.code}: ${nodeError.message}`, {
      cause: nodeError,
    });
    // A rate limit concerns the endpoint, not only this call.
    if (kind === 'rate_limited') throw failure;
    return { error: failure };
  }
  if (result === undefined)
    throw new UpstreamFailure('invalid_response', 'the reply has neither a result nor an error');
  return { result };
}

/**
 * Endpoints with the same name count as one source. The name comes from `#provider=NAME` in the URL; without it, it
 * is the IP address or the last two labels of the host name, even under a public suffix such as `co.uk`.
 */
export function providerName(url: string): string {
  const { hostname, hash } = new URL(url);
  const declared = new URLSearchParams(hash.slice(1)).get('provider');
  if (declared !== null && declared !== '') return declared;
  if (isIP(hostname.replace(/^\[|\]$/g, '')) !== 0) return hostname;
  return hostname.split('.').slice(-2).join('.');
}

/** Null if the reply has no result. Throws if the reply is missing or is an error. */
export function resultOf(reply: RpcReply | undefined): unknown {
  if (reply === undefined) throw new Error('the batch has too few replies');
  if ('error' in reply) throw reply.error;
  return reply.result ?? null;
}
