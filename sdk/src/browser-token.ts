import { CausewayError, errorOfReply } from './error.ts';
import { keepToken } from './keep-token.ts';
import type { TokenSource } from './request.ts';

export type BrowserTokenOptions = {
  /** Where this app's own server gives tokens; `/causeway/token` unless told. */
  url?: string | undefined;
  fetch?: typeof fetch | undefined;
  /** Milliseconds; 15,000 unless told. */
  timeout?: number | undefined;
};

/**
 * The signed-in user's token, from the app's own server (`createHandler` of `@causeway/sdk/server`). Fails with
 * `not_signed_in` when there is no session.
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
  return keepToken(async (refresh) => {
    const reply = await askServer(options, refresh ? `${url}?refresh=1` : url, timeout);
    const body = (await reply.json().catch(() => undefined)) as Record<string, unknown> | undefined;
    const { access_token, expires_in } = body ?? {};
    if (!reply.ok || typeof access_token !== 'string') throw errorOfReply(reply.status, body, reply.headers);
    return { token: access_token, seconds: Number(expires_in) || 0 };
  });
}

async function askServer(options: BrowserTokenOptions, url: string, timeout: number): Promise<Response> {
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
      message: 'The app did not give a token.',
      cause,
    });
  }
}
