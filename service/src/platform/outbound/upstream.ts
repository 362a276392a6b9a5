import { Counter, type Registry } from 'prom-client';
import type { Static, TSchema } from 'typebox';
import { Pool } from 'undici';
import { isValid } from '../../kernel/validation.ts';
import { createCircuitBreaker } from './circuit-breaker.ts';
import {
  failureOfError,
  failureOfStatus,
  invalidResponse,
  UpstreamFailure,
  type UpstreamFailureKind,
  upstreamError,
} from './failure.ts';
import { sendHttpRequest } from './http-request.ts';

/**
 * An HTTP API of an external provider. Every call has a time limit. Only repeatable calls are retried. A circuit
 * breaker stops calls to a provider that does not respond. Error messages never quote the request or the response.
 */
export type Upstream = {
  name: string;
  request(request: UpstreamRequest): Promise<UpstreamReply>;
  close(): Promise<void>;
};

export type UpstreamRequest = {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** The path with the query, percent-encoded. */
  path: string;
  /** Returns the headers of one attempt. Called for every attempt, because signatures expire. */
  headers?: () => Record<string, string>;
  body?: string;
  /** Time limit for all attempts together. Default: `timeoutMs` of the upstream. */
  timeoutMs?: number;
  /** Whether it is safe to send the request more than once. Default: true for GET. */
  isRepeatable?: boolean;
};

/** A JSON or empty response. Its status is never 429, 502, 503 or 504, because `request` throws for these statuses. */
export type UpstreamReply = { status: number; body: unknown };

export type UpstreamOptions = {
  /** The provider's name, which callers see in `errors.upstream`. */
  name: string;
  url: string;
  timeoutMs: number;
  registry?: Registry;
};

export const MAX_CONNECTIONS = 32;
const MAX_RESPONSE_BYTES = 2 * 1_048_576;

export function openUpstream({ name, url, timeoutMs, registry }: UpstreamOptions): Upstream {
  const { origin, pathname } = new URL(url);
  const basePath = pathname === '/' ? '' : pathname;
  const pool = new Pool(origin, {
    connections: MAX_CONNECTIONS,
    pipelining: 1,
    keepAliveTimeout: 4_000,
    connectTimeout: timeoutMs,
  });
  const circuit = createCircuitBreaker();
  const count = outcomeCounter(registry, name);

  async function attempt(request: UpstreamRequest, deadline: number): Promise<UpstreamReply> {
    const wait = circuit.wait();
    if (wait > 0) throw new UpstreamFailure('not_sent', 'circuit open', { retryAfterSeconds: wait / 1000 });
    try {
      const reply = await send(pool, basePath, request, deadline);
      circuit.succeed();
      count('answered');
      return reply;
    } catch (error) {
      const failure = failureOfError(error);
      if (failure.asksToWait) circuit.pause(failure.retryAfterSeconds * 1000);
      else if (failure.kind === 'invalid_response') circuit.succeed();
      else circuit.fail();
      count(failure.kind);
      throw failure;
    }
  }

  return {
    name,
    request: async (request) => {
      const deadline = performance.now() + (request.timeoutMs ?? timeoutMs);
      const isRepeatable = request.isRepeatable ?? request.method === 'GET';
      try {
        return await attempt(request, deadline).catch((failure: UpstreamFailure) => {
          const hasTime = deadline - performance.now() > timeoutMs / 4;
          if (isRepeatable && hasTime && failure.kind === 'no_response' && !failure.asksToWait)
            return attempt(request, deadline);
          throw failure;
        });
      } catch (failure) {
        throw upstreamError(name, failure as UpstreamFailure);
      }
    },
    close: () => pool.destroy(),
  };
}

async function send(
  pool: Pool,
  basePath: string,
  { method, path, headers, body }: UpstreamRequest,
  deadline: number,
): Promise<UpstreamReply> {
  const response = await sendHttpRequest(pool, {
    method,
    path: `${basePath}${path}`,
    headers: {
      accept: 'application/json',
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers?.(),
    },
    ...(body !== undefined && { body }),
    timeoutMs: Math.max(1, deadline - performance.now()),
    maxBytes: MAX_RESPONSE_BYTES,
  });
  const { status, text } = response;
  const failure = failureOfStatus(response);
  if (failure !== undefined) throw failure;
  return { status, body: parseJson(text, status) };
}

/**
 * Parses the body. An empty body becomes null. A 4xx body that is not JSON also becomes null, because the status alone
 * shows that the request was refused. Throws for any other body that is not JSON, because such a body does not show
 * whether the request had an effect.
 */
function parseJson(text: string, status: number): unknown {
  if (text === '') return null;
  try {
    return JSON.parse(text);
  } catch {
    if (status >= 400 && status < 500) return null;
    throw new UpstreamFailure('invalid_response', `HTTP ${status} with a body that is not JSON`);
  }
}

/** Returns the body, typed by the schema. Throws `upstream_error` if the body does not match the schema. */
export function parseBody<S extends TSchema>(upstream: string, schema: S, body: unknown): Static<S> {
  if (isValid(schema, body)) return body as Static<S>;
  throw invalidResponse(upstream, 'unexpected response shape');
}

type Outcome = 'answered' | UpstreamFailureKind;

function outcomeCounter(registry: Registry | undefined, upstream: string): (outcome: Outcome) => void {
  if (registry === undefined) return () => {};
  const name = 'causeway_upstream_requests_total';
  const known = registry.getSingleMetric(name) as Counter | undefined;
  const counter =
    known ??
    new Counter({
      name,
      help: 'Requests to external providers by outcome.',
      labelNames: ['upstream', 'outcome'],
      registers: [registry],
    });
  return (outcome) => counter.inc({ upstream, outcome });
}
