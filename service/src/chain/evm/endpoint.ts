import { Pool } from 'undici';
import { ResponseTooLargeError, sendHttpRequest, TimeoutError } from '../../outbound/http-request.ts';
import { EndpointFailure, NodeError } from './failures.ts';

export type RpcCall = { method: string; params: unknown };

export type RpcReply = { result: unknown } | { error: NodeError };

/** One RPC URL with its connections and its circuit. */
export type Endpoint = {
  /** Whether a call may go there now; the first one after a pause is a probe, and alone. */
  isOpen(now: number): boolean;
  /** Whether its last answers were good. */
  isTrusted(now: number): boolean;
  /** Posts the calls as one HTTP request. Throws `EndpointFailure`. */
  post(calls: RpcCall[], timeout: number): Promise<RpcReply[]>;
  /** The answer had the right form but cannot be true. */
  distrust(): void;
  close(): Promise<void>;
};

const CONNECTIONS = 16;
const IN_FLIGHT = 64;
const FAILURES_TO_OPEN = 3;
const FIRST_PAUSE = 250;
const LONGEST_PAUSE = 2_000;
const DISTRUST = 1_000;
const BODY_LIMIT = 32 * 1_048_576;

// Resource unavailable and limit exceeded (EIP-1474), and what some operators answer for the latter.
const ASKS_TO_WAIT = new Set([-32002, -32005, -32016]);
const INTERNAL_ERROR = -32603;

export function openEndpoint(url: string): Endpoint {
  const { origin, pathname, search, username, password } = new URL(url);
  const pool = new Pool(origin, { connections: CONNECTIONS, pipelining: 1, keepAliveTimeout: 4_000 });
  const credentials = username === '' ? {} : { authorization: basic(username, password) };
  const circuit = createCircuitBreaker();
  const slots = createSlots(IN_FLIGHT);

  async function post(calls: RpcCall[], timeout: number): Promise<RpcReply[]> {
    const deadline = performance.now() + timeout;
    try {
      await slots.take(timeout);
      try {
        const left = Math.max(1, deadline - performance.now());
        const replies = await postCalls(pool, `${pathname}${search}`, credentials, calls, left);
        circuit.succeed();
        return replies;
      } finally {
        slots.give();
      }
    } catch (error) {
      circuit.fail(error as EndpointFailure);
      throw error;
    }
  }

  return { ...circuit, post, close: () => pool.destroy() };
}

function basic(username: string, password: string): string {
  return `Basic ${Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64')}`;
}

/** At most so many at once; the others wait for their turn, but not for ever. */
function createSlots(count: number) {
  const queue: (() => void)[] = [];
  let free = count;
  return {
    take: (timeout: number): Promise<void> => {
      if (free > 0) {
        free -= 1;
        return Promise.resolve();
      }
      return new Promise((resolve, reject) => {
        const enter = () => {
          clearTimeout(timer);
          resolve();
        };
        const timer = setTimeout(() => {
          queue.splice(queue.indexOf(enter), 1);
          reject(new EndpointFailure('silent', 'no free connection'));
        }, timeout);
        queue.push(enter);
      });
    },
    give: (): void => {
      const next = queue.shift();
      if (next === undefined) free += 1;
      else next();
    },
  };
}

/**
 * Silence closes the way for a while; nonsense does not, because it costs no time and must be told from silence, but
 * other endpoints are asked first.
 */
function createCircuitBreaker() {
  let failures = 0;
  let pause = FIRST_PAUSE;
  let closedUntil = 0;
  let probing = false;
  let distrustedUntil = 0;
  return {
    isOpen: (now: number): boolean => {
      if (closedUntil === 0) return true;
      if (now < closedUntil || probing) return false;
      probing = true;
      return true;
    },
    isTrusted: (now: number): boolean => now >= distrustedUntil && closedUntil === 0,
    distrust: (): void => {
      distrustedUntil = performance.now() + DISTRUST;
    },
    succeed: (): void => {
      failures = 0;
      pause = FIRST_PAUSE;
      closedUntil = 0;
      probing = false;
    },
    fail: ({ kind, retryAfter }: EndpointFailure): void => {
      const now = performance.now();
      probing = false;
      if (kind === 'nonsense') {
        distrustedUntil = now + DISTRUST;
        closedUntil = 0;
        return;
      }
      failures += 1;
      if (kind === 'limited') closedUntil = now + Math.min(retryAfter * 1000, LONGEST_PAUSE);
      else if (failures >= FAILURES_TO_OPEN) {
        closedUntil = now + pause;
        pause = Math.min(pause * 2, LONGEST_PAUSE);
      }
    },
  };
}

type Headers = Record<string, string>;

async function postCalls(
  pool: Pool,
  path: string,
  credentials: Headers,
  calls: RpcCall[],
  timeout: number,
): Promise<RpcReply[]> {
  const requests = calls.map(({ method, params }, id) => ({ jsonrpc: '2.0', id, method, params }));
  const body = JSON.stringify(calls.length === 1 ? requests[0] : requests);
  const headers = { 'content-type': 'application/json', ...credentials };
  const request = { method: 'POST', path, headers, body, timeout, limit: BODY_LIMIT } as const;
  const {
    status,
    headers: told,
    text,
  } = await sendHttpRequest(pool, request).catch((cause: unknown) => {
    if (cause instanceof ResponseTooLargeError)
      throw new EndpointFailure('nonsense', cause.message, { cause });
    const message = cause instanceof TimeoutError ? cause.message : 'no connection';
    throw new EndpointFailure('silent', message, { cause });
  });
  if (status === 429)
    throw new EndpointFailure('limited', 'HTTP 429', { retryAfter: Number(told['retry-after']) || 1 });
  if (status === 502 || status === 503 || status === 504)
    throw new EndpointFailure('silent', `HTTP ${status}`);
  return readReplies(text, calls.length, status);
}

function readReplies(text: string, count: number, status: number): RpcReply[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (cause) {
    throw new EndpointFailure('nonsense', `HTTP ${status} with an answer that is not JSON`, { cause });
  }
  if (count === 1) return [readReply(parsed)];
  // A batch that is refused as a whole is answered by one object.
  if (!Array.isArray(parsed)) {
    const reply = readReply(parsed);
    return Array.from({ length: count }, () => reply);
  }
  const byId = new Map(parsed.map((each: { id?: unknown } | null) => [each?.id, each]));
  return Array.from({ length: count }, (_, id) => readReply(byId.get(id)));
}

function readReply(reply: unknown): RpcReply {
  const { result, error } = (reply ?? {}) as {
    result?: unknown;
    error?: { code?: unknown; message?: unknown; data?: unknown };
  };
  if (error !== undefined && error !== null) {
    if (typeof error.code !== 'number') throw new EndpointFailure('nonsense', 'an error without a code');
    const failure = `node error ${error.code}: ${error.message}`;
    if (ASKS_TO_WAIT.has(error.code)) throw new EndpointFailure('limited', failure);
    // With data it is a revert in the manner of some nodes.
    if (error.code === INTERNAL_ERROR && error.data == null) throw new EndpointFailure('nonsense', failure);
    return { error: new NodeError(error.code, String(error.message ?? ''), error.data) };
  }
  if (result === undefined) throw new EndpointFailure('nonsense', 'neither a result nor an error');
  return { result };
}
