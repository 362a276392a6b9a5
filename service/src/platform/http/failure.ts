import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { ApiError, ERRORS, type ErrorCode } from '../../kernel/errors.ts';
import { Closed } from '../../kernel/wire.ts';
import type { Kernel } from '../context/kernel.ts';
import { isDatabaseUnavailable } from '../db/unavailable.ts';
import { MAX_URL_LENGTH } from './request-checks.ts';

const members = {
  message: Type.String({ description: 'A human-readable message.' }),
  type: Type.Literal('api_error'),
  code: Type.String({
    description: 'A machine-readable error code. `docs/errors.md` lists all codes.',
    examples: Object.keys(ERRORS),
  }),
  errors: Type.Object(
    {},
    {
      additionalProperties: true,
      description: 'A list of messages per field, or details specific to the code.',
    },
  ),
  event_id: Type.String({
    description: 'The id of the failed request. Quote it when you contact support.',
  }),
};

export const Failure = Closed(members, { title: 'ErrorBody' });

/** Errors from `/oauth/*` also have the members that OAuth clients expect (RFC 6749 §5.2). */
export const OAuthFailure = Closed(
  {
    error: Type.String({ description: 'The OAuth 2.0 error code.', examples: ['invalid_request'] }),
    error_description: Type.Optional(Type.String({ description: 'A message for developers.' })),
    ...members,
  },
  { title: 'OAuthErrorBody' },
);

/** Maps Fastify's error codes to our error codes. */
const FRAMEWORK_CODES: Record<string, ErrorCode> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_media_type',
  FST_ERR_CTP_BODY_TOO_LARGE: 'payload_too_large',
};

/** Converts whatever was thrown into the error that the caller sees. Unknown errors become `internal_error`. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  const { code, statusCode } = error as { code?: unknown; statusCode?: unknown };
  const known = FRAMEWORK_CODES[String(code)];
  if (known !== undefined) return new ApiError(known, {}, { cause: error });
  if (isDatabaseUnavailable(error))
    return new ApiError('unavailable', {}, { cause: error, headers: { 'retry-after': '2' } });
  const isClientFault = typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500;
  return new ApiError(isClientFault ? 'malformed_request' : 'internal_error', {}, { cause: error });
}

/** Logs the cause of an error. An error without a cause says everything in the line of its request. */
export function logFailure({ log }: Pick<Kernel, 'log'>, error: ApiError, request: FastifyRequest): void {
  if (error.cause === undefined) return;
  log[error.status >= 500 ? 'error' : 'debug'](
    { err: error.cause, method: request.method, request_id: request.id, error_code: error.code },
    'request failed',
  );
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
  unavailable: 'temporarily_unavailable',
  internal_error: 'server_error',
};

/** Maps validation errors to 400, the only status that OAuth has for invalid parameters (RFC 6749 §5.2). */
export function toOAuthError(error: ApiError): ApiError {
  return error.code === 'validation_failed' ? new ApiError('malformed_request', error.details) : error;
}

/** Returns the members that OAuth clients expect in addition to the error object (RFC 6749 §5.2). */
export function oauthMembers(error: ApiError) {
  return { error: OAUTH_ERRORS[error.code] ?? 'invalid_request', error_description: error.message };
}

/**
 * Converts an error from Node's HTTP parser. An overflow of the header buffer becomes `uri_too_long` if the request
 * line was too long, otherwise `payload_too_large`. Every other error becomes `malformed_request`.
 */
export function parserError(error: Error): ApiError {
  const { code, rawPacket } = error as { code?: unknown; rawPacket?: Buffer };
  if (code !== 'HPE_HEADER_OVERFLOW') return new ApiError('malformed_request', {}, { cause: error });
  const firstLine = rawPacket?.indexOf('\r\n') ?? 0;
  const isUrl = firstLine < 0 || firstLine > MAX_URL_LENGTH;
  return new ApiError(isUrl ? 'uri_too_long' : 'payload_too_large', {}, { cause: error });
}

/** Returns a complete HTTP/1.1 response for a socket whose request could not be parsed. */
export function rawFailure(headers: Record<string, string>, error: ApiError, eventId: string): string {
  const body = JSON.stringify(failureBody(error, eventId));
  return [
    `HTTP/1.1 ${ERRORS[error.code][0]} ${error.code}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    `x-request-id: ${eventId}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    'cache-control: no-store',
    'connection: close',
    '',
    body,
  ].join('\r\n');
}
