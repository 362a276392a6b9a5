import type { TSchema } from 'typebox';
import { PARTNER_SCOPES, type Scope } from '../../src/kernel/access.ts';
import { ERRORS, type ErrorCode } from '../../src/kernel/errors.ts';
import { Failure, OAuthFailure } from '../../src/platform/http/failure.ts';
import type { Access, Route } from '../../src/platform/http/route.ts';
import { exampleOf } from './examples.ts';
import type { Components } from './schema.ts';

type Json = Record<string, unknown>;

/** An operation without a declared route, such as an operation of the authorization server. */
export type ExtraOperation = {
  method: 'get' | 'post';
  path: string;
  operationId: string;
  summary: string;
  description: string;
  security: Json[];
  query?: TSchema;
  body?: TSchema;
  /** The reply; null for a page or a redirect. */
  reply: TSchema | null;
  errors: readonly ErrorCode[];
};

/**
 * The errors that every route can return, even a route that expects no body: any request can have headers that are too
 * large (`payload_too_large`) or a compressed body (`unsupported_media_type`).
 */
const ANY_ROUTE: readonly ErrorCode[] = [
  'malformed_request',
  'method_not_allowed',
  'payload_too_large',
  'uri_too_long',
  'unsupported_media_type',
  'rate_limited',
  'internal_error',
  'unavailable',
];
const WITH_TOKEN: readonly ErrorCode[] = ['unauthorized', 'insufficient_scope'];

export function routeOperation(route: Route, components: Components): Json {
  const { access, method, path, body } = route;
  const isIdempotent = method === 'POST' && path.startsWith('/v1/');
  const codes: ErrorCode[] = [
    ...ANY_ROUTE,
    ...(access.who === 'public' ? [] : WITH_TOKEN),
    ...(route.errors ?? []),
  ];
  if (access.who === 'user') codes.push('user_token_required');
  if (access.who === 'user' && method !== 'GET') codes.push('account_restricted');
  if (body !== undefined || route.query !== undefined) codes.push('validation_failed');
  if (isIdempotent) codes.push('idempotency_in_progress', 'idempotency_key_reused');
  const parameters = [
    ...parametersOf('path', route.params, components),
    ...parametersOf('query', route.query, components),
    ...filterParameters(route.filters),
    ...(isIdempotent ? [IDEMPOTENCY_KEY] : []),
    ...(route.cache === 'etag' ? [IF_NONE_MATCH] : []),
  ];
  const content = route.stream
    ? { 'text/event-stream': { schema: components.reply(route.reply) } }
    : { 'application/json': replyContent(route.reply, components) };
  return {
    operationId: route.operationId,
    summary: route.summary,
    description: [route.description, describeTokens(access)].filter(Boolean).join('\n\n'),
    security: securityOf(access),
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: requestBody(body, components, route.forms === true ? FORM_TOO : JSON_ONLY) }),
    responses: {
      200: { description: 'Success', content },
      ...(route.cache === 'etag' && { 304: { description: 'The `ETag` in `If-None-Match` is current.' } }),
      ...failures(codes, path, components),
    },
  };
}

/**
 * Returns the kinds of tokens that a route accepts. Partner tokens cannot have user scopes, and user tokens cannot have
 * `webhooks:write`.
 */
function tokensOf(who: 'partner' | 'user', scope: Scope): ('userToken' | 'partnerToken')[] {
  if (who === 'user' || !PARTNER_SCOPES.includes(scope)) return ['userToken'];
  return scope === 'webhooks:write' ? ['partnerToken'] : ['userToken', 'partnerToken'];
}

function securityOf(access: Access): Json[] {
  if (access.who === 'public') return [];
  return tokensOf(access.who, access.scope).map((scheme) => ({ [scheme]: [access.scope] }));
}

function describeTokens(access: Access): string | undefined {
  if (access.who === 'public') return undefined;
  const kinds = tokensOf(access.who, access.scope).map((scheme) => scheme.replace('Token', ''));
  return `Accepts ${kinds.join(' and ')} tokens with the scope \`${access.scope}\`.`;
}

const PAGE = {
  200: {
    description: 'An HTML page for the user, possibly after a redirect.',
    content: { 'text/html': { schema: { type: 'string' } } },
  },
  303: { description: 'A redirect.', headers: { Location: { schema: { type: 'string' } } } },
};

export function extraOperation(operation: ExtraOperation, components: Components): Json {
  const { path, operationId, summary, description, security, query, body, reply, errors } = operation;
  const parameters = parametersOf('query', query, components);
  const codes = [...ANY_ROUTE, ...errors];
  const success =
    reply === null
      ? PAGE
      : { 200: { description: 'Success', content: { 'application/json': replyContent(reply, components) } } };
  return {
    operationId,
    summary,
    description,
    security,
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: requestBody(body, components, FORM_TOO) }),
    responses: { ...success, ...failures(codes, path, components) },
  };
}

const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  description: 'Makes the request safe to retry for 24 hours.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
};

const IF_NONE_MATCH = {
  name: 'If-None-Match',
  in: 'header',
  description: 'The `ETag` of an earlier reply. If it is still current, the reply is 304 without a body.',
  schema: { type: 'string' },
};

function parametersOf(
  location: 'path' | 'query',
  schema: TSchema | undefined,
  components: Components,
): Json[] {
  const { properties = {}, required = [] } = (schema ?? {}) as {
    properties?: Record<string, TSchema & { description?: string; type?: unknown; items?: unknown }>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, property]) => ({
    name,
    in: location,
    ...(property.description && { description: property.description }),
    ...(required.includes(name) && { required: true, example: exampleOf(property, {}, name) }),
    // An array is sent as one comma-separated value.
    ...(Array.isArray(property.type) && property.type.includes('array')
      ? { style: 'form', explode: false, schema: { type: 'array', items: property.items } }
      : { schema: components.request(property) }),
  }));
}

/** Documents the parameters of the first filter. A request may have ten filters, numbered from 0. */
function filterParameters(fields: readonly string[] | undefined): Json[] {
  if (fields === undefined) return [];
  const parameter = (part: string, description: string, schema: Json) => ({
    name: `filters[0][${part}]`,
    in: 'query',
    description,
    schema,
  });
  return [
    parameter(
      'field',
      'The field to filter by. Further filters are `filters[1]`, `filters[2]` and so on, up to ten in total.',
      {
        type: 'string',
        enum: fields,
      },
    ),
    parameter('op', 'The comparison. `in` takes a comma-separated list of values.', {
      type: 'string',
      enum: ['==', '!=', 'in'],
    }),
    parameter('value', 'The value to compare with.', { type: 'string' }),
  ];
}

const JSON_ONLY = ['application/json'] as const;
const FORM_TOO = ['application/json', 'application/x-www-form-urlencoded'] as const;

function requestBody(body: TSchema, components: Components, types: readonly string[]): Json {
  const schema = components.request(body);
  const content = { schema, examples: { example: { value: exampleOf(schema, components.schemas) } } };
  return { required: true, content: Object.fromEntries(types.map((type) => [type, content])) };
}

function replyContent(reply: TSchema, components: Components): Json {
  const schema = components.reply(reply);
  return { schema, examples: { example: { value: exampleOf(schema, components.schemas) } } };
}

/** Returns one response per HTTP status. Each response lists the error codes with that status. */
function failures(codes: readonly ErrorCode[], path: string, components: Components): Json {
  const isOAuth = path.startsWith('/oauth/');
  const schema = components.reply(isOAuth ? OAuthFailure : Failure);
  const byStatus = new Map<number, ErrorCode[]>();
  // OAuth endpoints never return `validation_failed`. They answer invalid parameters with 400 (RFC 6749 §5.2).
  for (const code of new Set(codes.filter((each) => !isOAuth || each !== 'validation_failed')))
    byStatus.set(ERRORS[code][0], [...(byStatus.get(ERRORS[code][0]) ?? []), code]);
  return Object.fromEntries(
    [...byStatus].map(([status, list]) => [
      status,
      {
        description: list.map((code) => `\`${code}\`: ${ERRORS[code][1]}`).join('\n\n'),
        ...(RETRY_STATUSES.includes(status) && { headers: RETRY_AFTER }),
        content: {
          'application/json': { schema, examples: { example: { value: failureExample(list[0], isOAuth) } } },
        },
      },
    ]),
  );
}

const RETRY_STATUSES = [429, 503];
const RETRY_AFTER = {
  'Retry-After': { description: 'Seconds to wait before the next attempt.', schema: { type: 'integer' } },
};

function failureExample(code: ErrorCode | undefined, isOAuth: boolean): Json {
  const message = code === undefined ? '' : ERRORS[code][1];
  return {
    ...(isOAuth && { error: 'invalid_request', error_description: message }),
    message,
    type: 'api_error',
    code,
    errors: code === 'validation_failed' ? { amount: ['is required'] } : {},
    event_id: '3f2b6c1e-9a0d-4c57-8e21-5d4f3a2b1c0d',
  };
}
