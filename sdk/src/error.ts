import type { ErrorBody, ErrorCode } from './wire.ts';

/** What can go wrong before the service has answered. */
export type LocalCode = 'network_error' | 'timeout' | 'unexpected_reply' | 'not_signed_in';

/** Known codes complete in the editor; a newer service may send others. */
export type CausewayErrorCode = ErrorCode | LocalCode | (string & {});

type Facts = {
  code: CausewayErrorCode;
  status: number;
  message: string;
  eventId?: string | undefined;
  errors?: Record<string, unknown> | undefined;
  retryAfter?: number | undefined;
  cause?: unknown;
};

/**
 * A call that failed. Decide by `code`, quote `eventId` in a report; `errors` holds messages per field or details of
 * the code. It never holds the request, so that it can be logged as it is.
 *
 * @example
 * ```ts
 * import { CausewayError } from '@causeway/sdk';
 *
 * try {
 *   await causeway.offers.get('no-such-offer');
 * } catch (error) {
 *   if (!(error instanceof CausewayError)) throw error;
 *   console.log(error.code, error.status, error.eventId); // "not_found", 404, the id to quote
 * }
 * ```
 */
export class CausewayError extends Error {
  override readonly name = 'CausewayError';
  readonly code: CausewayErrorCode;
  /** HTTP status; 0 when there was no reply. */
  readonly status: number;
  /** The id of the failing request, which finds the service's log line. */
  readonly eventId: string | undefined;
  readonly errors: Record<string, unknown>;
  /** Seconds after which the service asks to try again. */
  readonly retryAfter: number | undefined;

  constructor({ code, status, message, eventId, errors, retryAfter, cause }: Facts) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.status = status;
    this.eventId = eventId;
    this.errors = errors ?? {};
    this.retryAfter = retryAfter;
  }
}

/**
 * Also true for an error of another copy of this package.
 *
 * @example
 * ```ts
 * import { isCausewayError } from '@causeway/sdk';
 *
 * const offer = await causeway.offers.get('no-such-offer').catch((error) => {
 *   if (isCausewayError(error, 'not_found')) return null;
 *   throw error;
 * });
 * console.log(offer); // null
 * ```
 */
export function isCausewayError(error: unknown, code?: CausewayErrorCode): error is CausewayError {
  const is = error instanceof Error && error.name === 'CausewayError';
  return is && (code === undefined || (error as CausewayError).code === code);
}

/** The error object of a reply, or a description of a reply that has none. */
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
    message: `The service answered ${status} in a form that is not its own.`,
    eventId: headers.get('x-request-id') ?? undefined,
  });
}

function isErrorBody(body: unknown): body is ErrorBody {
  if (typeof body !== 'object' || body === null) return false;
  const { type, code, message } = body as Partial<ErrorBody>;
  return type === 'api_error' && typeof code === 'string' && typeof message === 'string';
}
