import type { TokenSource } from './request.ts';

type IssuedToken = { token: string; expiresInS: number };

/** Replaces a token this long before it expires, so that it does not expire while a request is under way. */
const EXPIRY_MARGIN_S = 30;

/**
 * Caches a token until shortly before it expires. Concurrent callers share one request. A caller passes `refresh` if
 * the service rejected the current token. Such a call bypasses the cache and does not share a request that may return
 * the rejected token.
 */
export function cacheToken(
  requestToken: (refresh: boolean) => Promise<IssuedToken>,
): Exclude<TokenSource, string> {
  let cached: { token: string; validUntil: number } | undefined;
  let latest: { refresh: boolean; token: Promise<string> } | undefined;
  return async ({ refresh }) => {
    if (latest !== undefined && (latest.refresh || !refresh)) return latest.token;
    if (cached !== undefined && cached.validUntil > performance.now() && !refresh) return cached.token;
    const request: typeof latest = {
      refresh,
      token: requestToken(refresh)
        .then(({ token, expiresInS }) => {
          // Does not cache the token if a refresh started after this request, because the token may be the rejected
          // one.
          if (latest === request)
            cached = { token, validUntil: performance.now() + (expiresInS - EXPIRY_MARGIN_S) * 1000 };
          return token;
        })
        .finally(() => {
          if (latest === request) latest = undefined;
        }),
    };
    latest = request;
    return request.token;
  };
}
