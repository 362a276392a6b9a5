import type { TSchema } from 'typebox';
import { PARTNER_SCOPES, type Scope } from '../../src/kernel/access.ts';
import type { ErrorCode } from '../../src/kernel/errors.ts';
import type { Access, Route } from '../../src/platform/http/route.ts';
import {
  FORM_TOO,
  failures,
  filterParameters,
  IDEMPOTENCY_KEY,
  IF_NONE_MATCH,
  JSON_ONLY,
  parametersOf,
  replyContent,
  requestBody,
} from './parts.ts';
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
