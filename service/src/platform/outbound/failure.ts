import { realTime } from '../../kernel/clock.ts';
import { ApiError } from '../../kernel/errors.ts';
import { findHeader, type HttpResponse, ResponseTooLargeError, TimeoutError } from './http-request.ts';
import { parseRetryAfter } from './retry-after.ts';

/**
 * How a call to an external system failed. `not_sent`: the request never reached the system, so nothing
 * happened. `no_response`: the system may or may not have acted. `rate_limited`: the system refused the call
 * for now. `invalid_response`: the response is unusable.
 */
export type UpstreamFailureKind = 'not_sent' | 'no_response' | 'rate_limited' | 'invalid_response';

type FailureOptions = {
  cause?: unknown;
  retryAfterSeconds?: number;
  asksToWait?: boolean;
  timedOut?: boolean;
};

/**
 * The `cause` of the `ApiError` that a failed call throws. The message never quotes the request or the
 * response.
 */
export class UpstreamFailure extends Error {
  readonly kind: UpstreamFailureKind;
  readonly retryAfterSeconds: number;
  /** Whether the upstream itself asked us not to call it for `retryAfterSeconds`. */
  readonly asksToWait: boolean;
  /** Whether the deadline passed, in which case the upstream may still be working on the request. */
  readonly timedOut: boolean;

  constructor(kind: UpstreamFailureKind, message: string, options: FailureOptions = {}) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.name = 'UpstreamFailure';
    this.kind = kind;
    this.retryAfterSeconds = Math.max(1, Math.ceil(options.retryAfterSeconds ?? 1));
    this.asksToWait = kind === 'rate_limited' || (options.asksToWait ?? false);
    this.timedOut = options.timedOut ?? false;
  }
}

/** Maps a failure of the upstream called `name` to the error that API callers receive. */
export function upstreamError(name: string, failure: UpstreamFailure): ApiError {
  const details = { upstream: name };
  if (failure.kind === 'invalid_response') return new ApiError('upstream_error', details, { cause: failure });
  const headers = { 'retry-after': String(failure.retryAfterSeconds) };
  return new ApiError('upstream_unavailable', details, { cause: failure, headers });
}

/** Returns the error for a response that was read but does not make sense. */
export function invalidResponse(name: string, message: string): ApiError {
  return upstreamError(name, new UpstreamFailure('invalid_response', message));
}

/** Returns the error for a call to a provider that is not configured in this installation. */
export function notConfigured(name: string, setting: string): ApiError {
  const failure = new UpstreamFailure('not_sent', `${setting} is not set`, { retryAfterSeconds: 3600 });
  return upstreamError(name, failure);
}

/** Returns the upstream failure behind an error, or undefined if the error has another cause. */
export function upstreamFailureOf(error: unknown): UpstreamFailure | undefined {
  const cause = error instanceof ApiError ? error.cause : error;
  return cause instanceof UpstreamFailure ? cause : undefined;
}

/**
 * The longest wait that a provider can impose. Without this limit, a provider could make the service wait for days
 * before it asks again about a user's identity check or tax form.
 */
const MAX_RETRY_AFTER_S = 3600;

const CONNECT_ERRORS = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT']);

/** Converts an error thrown by `sendHttpRequest` to an `UpstreamFailure`. */
export function failureOfError(error: unknown): UpstreamFailure {
  if (error instanceof UpstreamFailure) return error;
  const { code } = error as { code?: string };
  if (CONNECT_ERRORS.has(String(code)))
    return new UpstreamFailure('not_sent', 'connection failed', { cause: error });
  if (error instanceof ResponseTooLargeError) return new UpstreamFailure('invalid_response', error.message);
  const timedOut = error instanceof TimeoutError;
  const message = timedOut ? error.message : 'connection lost';
  return new UpstreamFailure('no_response', message, { cause: error, timedOut });
}

/** Returns the failure that a response status indicates, or undefined if the response should be read. */
export function failureOfStatus(
  response: Pick<HttpResponse, 'status' | 'rawHeaders'>,
): UpstreamFailure | undefined {
  const { status, rawHeaders } = response;
  if (status === 429 || status === 503) {
    const requested = parseRetryAfter(findHeader(rawHeaders, 'retry-after'), realTime());
    const retryAfterSeconds = Math.min(requested ?? 1, MAX_RETRY_AFTER_S);
    const asksToWait = requested !== null && requested > 0;
    // Unlike a 429, a 503 may come from a proxy after the system has acted.
    const kind = status === 429 ? 'rate_limited' : 'no_response';
    return new UpstreamFailure(kind, `HTTP ${status}`, { retryAfterSeconds, asksToWait });
  }
  if (status === 502 || status === 504)
    return new UpstreamFailure('no_response', `HTTP ${status}`, { timedOut: status === 504 });
  return undefined;
}
