import Type from 'typebox';
import { ApiError, ERRORS, type ErrorCode } from '../errors.ts';
import { Closed } from './wire.ts';

export const Failure = Closed(
  {
    message: Type.String({ description: 'For people.' }),
    type: Type.Literal('api_error'),
    code: Type.String({
      description: 'For programs: one of the catalogue of errors.',
      examples: Object.keys(ERRORS),
    }),
    errors: Type.Object(
      {},
      { additionalProperties: true, description: 'Per field a list of messages, or details of the code.' },
    ),
    event_id: Type.String({ description: 'The id of the failing request, to quote in a report.' }),
  },
  { title: 'Error' },
);

/** What Fastify and Node say in their own words, in ours. */
const FRAMEWORK_CODES: Record<string, ErrorCode> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_media_type',
  FST_ERR_CTP_BODY_TOO_LARGE: 'payload_too_large',
  FST_ERR_HANDLER_TIMEOUT: 'upstream_unavailable',
  HPE_HEADER_OVERFLOW: 'payload_too_large',
};

/** Any thrown thing as the error that the caller sees; what is not ours to show is `internal_error`. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  const { code, statusCode } = error as { code?: unknown; statusCode?: unknown };
  const known = FRAMEWORK_CODES[String(code)];
  if (known !== undefined) {
    const headers = known === 'upstream_unavailable' ? { 'retry-after': '5' } : {};
    return new ApiError(known, {}, { cause: error, headers });
  }
  const isClientFault = typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500;
  return new ApiError(isClientFault ? 'malformed_request' : 'internal_error', {}, { cause: error });
}

export function failureBody(error: ApiError, eventId: string) {
  return {
    message: error.message,
    type: 'api_error' as const,
    code: error.code,
    errors: error.details,
    event_id: eventId,
  };
}

const OAUTH_ERRORS: Partial<Record<ErrorCode, string>> = {
  unauthorized: 'invalid_client',
  rate_limited: 'temporarily_unavailable',
  upstream_unavailable: 'temporarily_unavailable',
  internal_error: 'server_error',
};

/** What clients of `/oauth/*` look for beside the error object (RFC 6749 §5.2). */
export function oauthMembers(error: ApiError) {
  return { error: OAUTH_ERRORS[error.code] ?? 'invalid_request', error_description: error.message };
}

/** A whole HTTP/1.1 answer, for a socket whose request never became one. */
export function rawFailure(error: ApiError, eventId: string): string {
  const body = JSON.stringify(failureBody(error, eventId));
  return [
    `HTTP/1.1 ${ERRORS[error.code][0]} ${error.code}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    `x-request-id: ${eventId}`,
    'connection: close',
    '',
    body,
  ].join('\r\n');
}
