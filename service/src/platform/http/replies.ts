import { hash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../../kernel/access.ts';
import type { Context } from '../context/context.ts';
import type { Taken } from '../limits/rate-limits.ts';

/**
 * Returns the security headers of every API reply. They keep browsers from loading resources for the reply, showing it
 * in a frame, or sniffing its type.
 */
export function securityHeaders(baseUrl: string): Record<string, string> {
  const headers = {
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  };
  if (!baseUrl.startsWith('https:')) return headers;
  return { ...headers, 'strict-transport-security': 'max-age=31536000; includeSubDomains' };
}

/** Replies depend on the caller and, because of CORS, on the origin. */
export const VARY = 'Authorization, Origin';

export const CACHE_CONTROL = { etag: 'private, no-cache', none: 'no-store' } as const;

/** Keeps proxies from buffering, transforming or compressing a stream of events. */
export const STREAM_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store, no-transform',
  'x-accel-buffering': 'no',
  // Closes the connection when the stream ends. An idle connection would delay the node's shutdown.
  connection: 'close',
} as const;

export function setLimitHeaders(reply: FastifyReply, { limit, remaining, resetSeconds }: Taken): void {
  reply.headers({
    'ratelimit-limit': limit,
    'ratelimit-remaining': remaining,
    'ratelimit-reset': resetSeconds,
  });
}

export const EXPOSED_HEADERS =
  'X-Request-Id, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, Retry-After, ETag, Idempotent-Replayed';

/**
 * Sets the CORS headers if the calling partner has registered the origin. If the caller is unknown (preflight, rejected
 * token), it is enough that some partner has registered the origin. Returns whether the headers were set.
 */
export function setCorsHeaders(
  ctx: Context,
  caller: Caller | null,
  request: FastifyRequest,
  reply: FastifyReply,
): boolean {
  const { origin } = request.headers;
  if (origin === undefined) return false;
  reply.header('vary', VARY);
  const allowed = caller === null ? ctx.guard.knowsOrigin(origin) : caller.origins.has(origin);
  if (!allowed) return false;
  reply.headers({ 'access-control-allow-origin': origin, 'access-control-expose-headers': EXPOSED_HEADERS });
  return true;
}

export function setPreflightHeaders(reply: FastifyReply): void {
  reply.headers({
    'access-control-allow-methods': 'GET, HEAD, POST, PATCH, DELETE',
    'access-control-allow-headers':
      'Authorization, Content-Type, Idempotency-Key, If-None-Match, X-Request-Id, Last-Event-ID',
    'access-control-max-age': '600',
  });
}

/** Returns whether the client accepts HTML. Browsers that open a page do; API clients do not. */
export function acceptsHtml({ headers }: Pick<FastifyRequest, 'headers'>): boolean {
  return /(^|,)\s*text\/html\s*(?!;\s*q=0(\.0*)?\s*(,|$))(;|,|$)/i.test(headers.accept ?? '');
}

/** Returns a strong ETag for the payload. */
export function etagOf(payload: string): string {
  return `"${hash('sha1', payload, 'base64url')}"`;
}

/** Evaluates `If-None-Match` (RFC 9110 §13.1.2): weak comparison, and `*` matches any representation. */
export function matchesEtag(header: string, etag: string): boolean {
  if (header === etag || header.trim() === '*') return true;
  return header.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag);
}
