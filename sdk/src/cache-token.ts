import type { TokenSource } from './request.ts';

type IssuedToken = { token: string; expiresInS: number };

/** Replaces a token this long before it expires, so that it does not expire while a request is under way. */
const EXPIRY_MARGIN_S = 30;

/** Caches a token until shortly before it expires. Concurrent callers share one request, and `refresh` bypasses the cache. */
export function cacheToken(
  requestToken: (refresh: boolean) => Promise<IssuedToken>,
): Exclude<TokenSource, string> {
  let cached: { token: string; validUntil: number } | undefined;
  let inFlight: Promise<string> | undefined;
  return async ({ refresh }) => {
    if (inFlight !== undefined) return inFlight;
    if (cached !== undefined && cached.validUntil > performance.now() && !refresh) return cached.token;
    inFlight = requestToken(refresh)
      .then(({ token, expiresInS }) => {
        cached = { token, validUntil: performance.now() + (expiresInS - EXPIRY_MARGIN_S) * 1000 };
        return token;
      })
      .finally(() => {
        inFlight = undefined;
      });
    return inFlight;
  };
}
