import type { TokenSource } from './request.ts';

type IssuedToken = { token: string; expiresInS: number };

/** Tokens are replaced this long before they expire, so that they do not expire during a request. */
const EXPIRY_MARGIN_S = 30;

/**
 * Caches a token until shortly before it expires. Concurrent callers share one request. Pass `refresh` if the service
 * rejected the current token. A call with `refresh` bypasses the cache, and shares a request only if that request was
 * also made with `refresh`, because any other request may return the rejected token.
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
          // Does not cache the token if a refresh has started in the meantime: the service may have rejected this
          // token.
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
