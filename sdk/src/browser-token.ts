import { cacheToken } from './cache-token.ts';
import { CausewayError, errorOfReply } from './error.ts';
import type { TokenSource } from './request.ts';

export type BrowserTokenOptions = {
  /** The token endpoint of this app's own server. Default: `/causeway/token`. */
  url?: string | undefined;
  fetch?: typeof fetch | undefined;
  /** In milliseconds. Default: 15,000. */
  timeout?: number | undefined;
};

/**
 * Returns a token source that fetches the signed-in user's token from the app's own server (`createHandler` of
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
    const reply = await fetchToken(options, refresh ? `${url}?refresh=1` : url, timeout);
    const body = (await reply.json().catch(() => undefined)) as Record<string, unknown> | undefined;
    const { access_token, expires_in } = body ?? {};
    if (!reply.ok || typeof access_token !== 'string') throw errorOfReply(reply.status, body, reply.headers);
    return { token: access_token, expiresInS: Number(expires_in) || 0 };
  });
}

async function fetchToken(options: BrowserTokenOptions, url: string, timeout: number): Promise<Response> {
  const signal = AbortSignal.timeout(timeout);
  try {
    return await (options.fetch ?? fetch)(url, {
      headers: { accept: 'application/json', 'causeway-request': '1' },
      cache: 'no-store',
      signal,
    });
  } catch (cause) {
    throw new CausewayError({
      status: 0,
      code: signal.aborted ? 'timeout' : 'network_error',
      message: signal.aborted
        ? `The app's token endpoint (${url}) did not respond in time.`
        : `The app's token endpoint (${url}) could not be reached.`,
      cause,
    });
  }
}
