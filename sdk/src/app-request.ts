import { CausewayError } from './error.ts';

type AppRequest = {
  url: string;
  /** The endpoint's name, for error messages. */
  endpoint: string;
  timeoutMs: number;
  signal?: AbortSignal | undefined;
  fetch?: typeof fetch | undefined;
};

/** Calls a route that `createHandler` serves on the app's own server. */
export async function fetchFromApp(request: AppRequest): Promise<Response> {
  const { url, endpoint, timeoutMs, signal } = request;
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    return await (request.fetch ?? fetch)(url, {
      headers: { accept: 'application/json', 'causeway-request': '1' },
      cache: 'no-store',
      signal: signal === undefined ? timeout : AbortSignal.any([timeout, signal]),
    });
  } catch (cause) {
    signal?.throwIfAborted();
    throw new CausewayError({
      status: 0,
      code: timeout.aborted ? 'timeout' : 'network_error',
      message: timeout.aborted
        ? `The app's ${endpoint} endpoint (${url}) did not respond in time.`
        : `The app's ${endpoint} endpoint (${url}) could not be reached.`,
      cause,
    });
  }
}
