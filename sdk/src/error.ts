import type { ErrorDetails } from './error-details.ts';
import type { ErrorBody, ErrorCode } from './wire.ts';

/** Codes that the client sets itself, because it got no error object from the service. */
export type LocalCode = 'network_error' | 'timeout' | 'unexpected_reply' | 'not_signed_in';

/** Known codes are listed for autocompletion; a newer service may send others. */
export type CausewayErrorCode = ErrorCode | LocalCode | (string & {});

type ErrorFields = {
  code: CausewayErrorCode;
  status: number;
  message: string;
  eventId?: string | undefined;
  errors?: Record<string, unknown> | undefined;
  retryAfter?: number | undefined;
  cause?: unknown;
};

/**
 * A failed API call. Branch on `code`, and quote `eventId` in bug reports. `errors` has per-field messages, or details
 * specific to the code. The error never contains the request, so it is safe to log.
 *
 * @example
 * ```ts
 * import { CausewayError } from '@causeway/sdk';
 *
 * try {
 *   await causeway.offers.get('no-such-offer');
 * } catch (error) {
 *   if (!(error instanceof CausewayError)) throw error;
 *   console.log(error.code, error.status, error.eventId); // "not_found", 404, the request id
 * }
 * ```
 */
export class CausewayError extends Error {
  override readonly name = 'CausewayError';
  readonly code: CausewayErrorCode;
  /** The HTTP status, or 0 if there was no response. */
  readonly status: number;
  /** The id of the failed request in the service's log. */
  readonly eventId: string | undefined;
  readonly errors: Record<string, unknown>;
  /** Seconds to wait before a retry, if the service sent `Retry-After`. */
  readonly retryAfter: number | undefined;

  constructor({ code, status, message, eventId, errors, retryAfter, cause }: ErrorFields) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.status = status;
    this.eventId = eventId;
    this.errors = errors ?? {};
    this.retryAfter = retryAfter;
  }
}

/** A `CausewayError` with a known code and the details that the service sends with that code. */
export type CausewayErrorOf<Code extends CausewayErrorCode> = CausewayError & {
  readonly code: Code;
  readonly errors: Code extends keyof ErrorDetails ? ErrorDetails[Code] : Record<string, unknown>;
};

/**
 * Returns true for a `CausewayError`. With `code`, returns true only for an error with that code, and narrows the type
 * of its details. Unlike `instanceof`, this function also works across copies of this package.
 *
 * @example
 * ```ts
 * import { isCausewayError } from '@causeway/sdk';
 *
 * const offer = await causeway.offers.get('no-such-offer').catch((error) => {
 *   if (isCausewayError(error, 'not_found')) return null;
 *   if (isCausewayError(error, 'upstream_unavailable')) console.log(error.errors.upstream);
 *   throw error;
 * });
 * console.log(offer); // null
 * ```
 */
export function isCausewayError(error: unknown): error is CausewayError;
export function isCausewayError<Code extends CausewayErrorCode>(
  error: unknown,
  code: Code,
): error is CausewayErrorOf<Code>;
export function isCausewayError(error: unknown, code?: CausewayErrorCode): boolean {
  const is = error instanceof Error && error.name === 'CausewayError';
  return is && (code === undefined || (error as CausewayError).code === code);
}

/**
 * Converts a failed HTTP response to an error. If the body is the API's error object, copies its fields. Otherwise, the
 * code is `unexpected_reply`.
 */
export function errorOfReply(
  status: number,
  body: unknown,
  headers: { get(name: string): string | null },
): CausewayError {
  const retryAfter = Number(headers.get('retry-after') ?? Number.NaN);
  const known = Number.isFinite(retryAfter) ? { retryAfter } : {};
  if (isErrorBody(body))
    return new CausewayError({
      ...known,
      status,
      code: body.code,
      message: body.message,
      eventId: body.event_id,
      errors: body.errors,
    });
  return new CausewayError({
    ...known,
    status,
    code: 'unexpected_reply',
    message: `The server responded with ${status} and no Causeway error object. Check that baseUrl points at the service.`,
    eventId: headers.get('x-request-id') ?? undefined,
  });
}

function isErrorBody(body: unknown): body is ErrorBody {
  if (typeof body !== 'object' || body === null) return false;
  const { type, code, message } = body as Partial<ErrorBody>;
  return type === 'api_error' && typeof code === 'string' && typeof message === 'string';
}
