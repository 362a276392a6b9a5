import { Counter, type Registry } from 'prom-client';
import type { Static, TSchema } from 'typebox';
import { Pool } from 'undici';
import { ApiError } from '../errors.ts';
import { isValid } from '../http/validation.ts';
import { createCircuitBreaker } from './circuit-breaker.ts';
import { ResponseTooLargeError, sendHttpRequest, TimeoutError } from './http-request.ts';

/**
 * The one way out to providers over HTTP. Every call has a deadline; only calls that may be repeated are tried twice;
 * after repeated silence nobody waits for it any more (`circuit.ts`). Errors tell nothing of what was sent or received.
 */
export type Upstream = {
  name: string;
  request(request: UpstreamRequest): Promise<UpstreamReply>;
  close(): Promise<void>;
};

export type UpstreamRequest = {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With the query, percent-encoded, as it goes over the wire. */
  path: string;
  /** Made anew for every attempt, because signatures age. */
  headers?: () => Record<string, string>;
  body?: string;
  /** Milliseconds for all attempts; the upstream's own unless told. */
  timeout?: number;
  /** Whether a second attempt can do no harm; GETs unless told. */
  isRepeatable?: boolean;
};

/** Any answer that is JSON (or empty), whatever its status; 429, 502, 503 and 504 are failures instead. */
export type UpstreamReply = { status: number; headers: Record<string, string>; body: unknown };

export type UpstreamOptions = {
  /** As `errors.upstream` names it to callers. */
  name: string;
  url: string;
  timeout: number;
  registry?: Registry;
};

/** `refused`: it was not asked, so nothing happened. `silent`: nobody knows whether something happened. */
export type UpstreamFailureKind = 'refused' | 'silent' | 'limited' | 'nonsense';

/** The cause of the `ApiError` that a failing call throws. */
export class UpstreamFailure extends Error {
  readonly kind: UpstreamFailureKind;
  readonly retryAfter: number;
  /** Time ran out: the other end may still be at it. */
  readonly isLate: boolean;
  constructor(
    kind: UpstreamFailureKind,
    message: string,
    options: { cause?: unknown; retryAfter?: number; isLate?: boolean } = {},
  ) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.name = 'UpstreamFailure';
    this.kind = kind;
    this.retryAfter = Math.max(1, Math.ceil(options.retryAfter ?? 1));
    this.isLate = options.isLate ?? false;
  }
}

const CONNECTIONS = 32;
const BODY_LIMIT = 2 * 1_048_576;
const NEVER_CONNECTED = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT']);

export function openUpstream({ name, url, timeout, registry }: UpstreamOptions): Upstream {
  const { origin, pathname } = new URL(url);
  const base = pathname === '/' ? '' : pathname;
  const pool = new Pool(origin, {
    connections: CONNECTIONS,
    pipelining: 1,
    keepAliveTimeout: 4_000,
    connectTimeout: timeout,
  });
  const circuit = createCircuitBreaker();
  const count = outcomeCounter(registry, name);

  async function attempt(request: UpstreamRequest, deadline: number): Promise<UpstreamReply> {
    const wait = circuit.wait();
    if (wait > 0) throw new UpstreamFailure('refused', 'its circuit is open', { retryAfter: wait / 1000 });
    try {
      const reply = await ask(pool, base, request, deadline);
      circuit.succeed();
      count('answered');
      return reply;
    } catch (error) {
      const failure = toFailure(error);
      if (failure.kind === 'limited') circuit.pause(failure.retryAfter * 1000);
      else if (failure.kind === 'nonsense') circuit.succeed();
      else circuit.fail();
      count(failure.kind);
      throw failure;
    }
  }

  return {
    name,
    request: async (request) => {
      const deadline = performance.now() + (request.timeout ?? timeout);
      const mayRepeat = request.isRepeatable ?? request.method === 'GET';
      try {
        return await attempt(request, deadline).catch((failure: UpstreamFailure) => {
          const isWorthIt = failure.kind === 'silent' && deadline - performance.now() > timeout / 4;
          if (mayRepeat && isWorthIt) return attempt(request, deadline);
          throw failure;
        });
      } catch (failure) {
        throw upstreamError(name, failure as UpstreamFailure);
      }
    },
    close: () => pool.destroy(),
  };
}

async function ask(
  pool: Pool,
  base: string,
  { method, path, headers, body }: UpstreamRequest,
  deadline: number,
): Promise<UpstreamReply> {
  const {
    status,
    headers: told,
    text,
  } = await sendHttpRequest(pool, {
    method,
    path: `${base}${path}`,
    headers: {
      accept: 'application/json',
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers?.(),
    },
    ...(body !== undefined && { body }),
    timeout: Math.max(1, deadline - performance.now()),
    limit: BODY_LIMIT,
  });
  const plain = flatten(told);
  if (status === 429)
    throw new UpstreamFailure('limited', 'HTTP 429', { retryAfter: Number(plain['retry-after']) || 1 });
  if (status === 502 || status === 503 || status === 504)
    throw new UpstreamFailure('silent', `HTTP ${status}`, { isLate: status === 504 });
  return { status, headers: plain, body: parse(text, status) };
}

/** An unreadable success may have had its effect; what cannot be read in a refusal does not matter. */
function parse(text: string, status: number): unknown {
  if (text === '') return null;
  try {
    return JSON.parse(text);
  } catch {
    if (status >= 400 && status < 500) return null;
    throw new UpstreamFailure('nonsense', `HTTP ${status} with an answer that is not JSON`);
  }
}

function toFailure(error: unknown): UpstreamFailure {
  if (error instanceof UpstreamFailure) return error;
  const { code } = error as { code?: string };
  if (NEVER_CONNECTED.has(String(code)))
    return new UpstreamFailure('refused', 'no connection', { cause: error });
  if (error instanceof ResponseTooLargeError) return new UpstreamFailure('nonsense', error.message);
  const isLate = error instanceof TimeoutError;
  return new UpstreamFailure('silent', isLate ? 'no answer in time' : 'the connection broke', {
    cause: error,
    isLate,
  });
}

function flatten(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([key, value]) => [key, String(value ?? '')]));
}

/** What the caller of the API hears. */
export function upstreamError(name: string, failure: UpstreamFailure): ApiError {
  const details = { upstream: name };
  if (failure.kind === 'nonsense') return new ApiError('upstream_error', details, { cause: failure });
  const headers = { 'retry-after': String(failure.retryAfter) };
  return new ApiError('upstream_unavailable', details, { cause: failure, headers });
}

/** An answer that was read but is not what it should be. */
export function nonsense(name: string, message: string): ApiError {
  return upstreamError(name, new UpstreamFailure('nonsense', message));
}

/** How a call failed; undefined for errors of another kind. */
export function upstreamFailureOf(error: unknown): UpstreamFailure | undefined {
  const cause = error instanceof ApiError ? error.cause : error;
  return cause instanceof UpstreamFailure ? cause : undefined;
}

/** The body in the shape it must have; `upstream_error` otherwise. */
export function readAs<S extends TSchema>(upstream: string, schema: S, body: unknown): Static<S> {
  if (isValid(schema, body)) return body as Static<S>;
  throw nonsense(upstream, 'an answer of another shape');
}

function outcomeCounter(registry: Registry | undefined, upstream: string): (outcome: string) => void {
  if (registry === undefined) return () => {};
  const name = 'causeway_upstream_requests_total';
  const known = registry.getSingleMetric(name) as Counter | undefined;
  const counter =
    known ??
    new Counter({
      name,
      help: 'Requests to providers by outcome.',
      labelNames: ['upstream', 'outcome'],
      registers: [registry],
    });
  return (outcome) => counter.inc({ upstream, outcome });
}
