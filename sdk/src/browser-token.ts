import { fetchFromApp } from './app-request.ts';
import { cacheToken } from './cache-token.ts';
import { errorOfReply } from './error.ts';
import type { TokenSource } from './request.ts';

export type BrowserTokenOptions = {
  /** The token endpoint on this app's own server. Default: `/causeway/token`. */
  url?: string | undefined;
  fetch?: typeof fetch | undefined;
  /** The timeout for a token request, in milliseconds. Default: 15,000. */
  timeout?: number | undefined;
};

/**
 * Returns a token source that fetches the signed-in user's token from the app's own server (`createHandler` from
 * `@causeway/sdk/server`). Calls fail with `not_signed_in` if there is no session.
 *
 * @example
 * ```ts
 * import { browserToken, createCauseway } from '@causeway/sdk';
 *
 * const causeway = createCauseway({ baseUrl: 'http://127.0.0.1:8080', accessToken: browserToken() });
 * ```
 */
export function browserToken(options: BrowserTokenOptions = {}): TokenSource {
  const { url = '/causeway/token', timeout = 15_000 } = options;
  return cacheToken(async (refresh) => {
    const reply = await fetchFromApp({
      ...{
        url: refresh ? `${url}?refresh=1` : url,
        endpoint: 'token',
        timeoutMs: timeout,
        fetch: options.fetch,
      },
    });
    const body = (await reply.json().catch(() => undefined)) as Record<string, unknown> | undefined;
    const { access_token, expires_in } = body ?? {};
    if (!reply.ok || typeof access_token !== 'string') throw errorOfReply(reply.status, body, reply.headers);
    return { token: access_token, expiresInS: Number(expires_in) || 0 };
  });
}
