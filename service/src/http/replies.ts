import { hash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../context.ts';
import type { Caller } from './access.ts';
import type { Taken } from './limits.ts';

/** On every reply of the API: nothing here is a page, nothing may frame it or guess its type. */
export function securityHeaders(baseUrl: string): Record<string, string> {
  const headers = {
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  };
  if (!baseUrl.startsWith('https:')) return headers;
  return { ...headers, 'strict-transport-security': 'max-age=31536000; includeSubDomains' };
}

export const CACHE_CONTROL = { etag: 'private, no-cache', none: 'no-store' } as const;

export function setLimitHeaders(reply: FastifyReply, { limit, remaining, resetSeconds }: Taken): void {
  reply.headers({
    'ratelimit-limit': limit,
    'ratelimit-remaining': remaining,
    'ratelimit-reset': resetSeconds,
  });
}

const EXPOSED =
  'X-Request-Id, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, Retry-After, ETag, Idempotent-Replayed';

/**
 * CORS: a page may read a reply when its origin is registered for the partner that calls, or, while nobody
 * is known yet (a preflight, a refused token), for any partner.
 */
export function setCorsHeaders(
  ctx: Context,
  caller: Caller | null,
  request: FastifyRequest,
  reply: FastifyReply,
): boolean {
  const { origin } = request.headers;
  if (origin === undefined) return false;
  reply.header('vary', 'Origin');
  const allowed = caller === null ? ctx.guard.knowsOrigin(origin) : caller.origins.has(origin);
  if (!allowed) return false;
  reply.headers({ 'access-control-allow-origin': origin, 'access-control-expose-headers': EXPOSED });
  return true;
}

export function setPreflightHeaders(reply: FastifyReply): void {
  reply.headers({
    'access-control-allow-methods': 'GET, HEAD, POST, DELETE',
    'access-control-allow-headers':
      'Authorization, Content-Type, Idempotency-Key, If-None-Match, X-Request-Id, Last-Event-ID',
    'access-control-max-age': '600',
  });
}

/** A strong validator of the exact bytes of a reply. */
export function etagOf(payload: string): string {
  return `"${hash('sha1', payload, 'base64url')}"`;
}

/** RFC 9110 §13.1.2: weak comparison, and `*` matches anything that exists. */
export function matchesEtag(header: string, etag: string): boolean {
  if (header === etag || header.trim() === '*') return true;
  return header.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag);
}
