import { CausewayError, errorOfReply } from './error.ts';
import { notify } from './notify.ts';
import { redact, redactPath } from './redact.ts';
import { sleep } from './sleep.ts';

/**
 * An access token, or a function that returns one. When the service has rejected a token, the client calls the function
 * with `refresh: true`.
 */
export type TokenSource = string | ((options: { refresh: boolean }) => string | Promise<string>);

/** A completed attempt at an API call, with secrets and personal data redacted. */
export type Call = {
  method: string;
  /** Includes the query. */
  path: string;
  /** The HTTP status, or 0 if there was no response. */
  status: number;
  milliseconds: number;
  /** Starts at 1. */
  attempt: number;
  requestId: string | undefined;
  requestBody: unknown;
  responseBody: unknown;
};

export type CausewayOptions = {
  /** The URL of the service without `/v1`, such as `https://causeway.example`. */
  baseUrl: string;
  accessToken: TokenSource;
  fetch?: typeof fetch | undefined;
  /** The timeout for each attempt, in milliseconds. Default: 20,000. */
  timeout?: number | undefined;
  /** The maximum number of retries, for requests that are safe to repeat. Default: 3. */
  retries?: number | undefined;
  /** Receives a redacted copy of each attempt, for logs and developer tools. */
  onCall?: ((call: Call) => void) | undefined;
};

export type RequestOptions = {
  signal?: AbortSignal | undefined;
  /**
   * The idempotency key for a POST request. Default: a new key per call. Pass a stored key to make a call idempotent
   * across page loads.
   */
  idempotencyKey?: string | undefined;
};

type Query = Record<string, string | number | boolean | undefined>;
export type Request = {
  method: 'GET' | 'POST' | 'DELETE';
  path: string;
  query?: Query | undefined;
  body?: unknown;
  /** The `Origin` header. Only for use outside browsers, which set the header themselves. */
  origin?: string | undefined;
};

/** Sends a request, with retries, and returns the parsed response. */
export type Send = <Reply>(request: Request, options?: RequestOptions) => Promise<Reply>;

const DEFAULT_TIMEOUT_MS = 20_000;
const DEFAULT_RETRIES = 3;
const INITIAL_BACKOFF_MS = 250;
const MAX_BACKOFF_MS = 8_000;
/**
 * The longest `Retry-After` that the client waits for. If the service sends a longer one, the call fails without a
 * retry.
 */
const MAX_RETRY_AFTER_S = 30;

export function createSend(options: CausewayOptions): Send {
  const url = trimBaseUrl(options.baseUrl);
  assertTokenSource(options.accessToken);
  const retries = options.retries ?? DEFAULT_RETRIES;
  const getToken = async (refresh: boolean) =>
    typeof options.accessToken === 'string' ? options.accessToken : options.accessToken({ refresh });

  return async <Reply>(request: Request, { signal, idempotencyKey }: RequestOptions = {}) => {
    const path = `${request.path}${encodeQuery(request.query)}`;
    const key = request.method === 'POST' ? (idempotencyKey ?? crypto.randomUUID()) : undefined;
    let hasRefreshed = false;
    for (let attempt = 1, refresh = false; ; attempt++) {
      signal?.throwIfAborted();
      try {
        const token = await getToken(refresh);
        refresh = false;
        return (await sendOnce(options, { ...request, url, path, token, key, attempt, signal })) as Reply;
      } catch (error) {
        if (!(error instanceof CausewayError)) throw error;
        if (isTokenRejected(error) && !hasRefreshed && typeof options.accessToken === 'function') {
          hasRefreshed = true;
          refresh = true;
          continue;
        }
        if (attempt > retries || !isRetryable(error, request.method)) throw error;
        await sleep(backoffMs(error.retryAfter, attempt), signal);
      }
    }
  };
}

/**
 * Returns the URL without trailing slashes. Throws `TypeError` if it is missing or cannot be the URL of a service.
 * `option` is the name by which the error message refers to the URL.
 */
export function trimBaseUrl(baseUrl: string | undefined, option = 'baseUrl'): string {
  const example = "set it to the service's URL, such as https://causeway.example";
  if (typeof baseUrl !== 'string' || baseUrl === '') throw new TypeError(`${option} is missing; ${example}`);
  const trimmed = baseUrl.replace(/\/+$/, '');
  const refused = (reason: string) =>
    new TypeError(`${option} ${JSON.stringify(baseUrl)} ${reason}; ${example}`);
  if (!/^https?:\/\/[^/]/i.test(trimmed) || !URL.canParse(trimmed)) throw refused('is not an absolute URL');
  if (/[?#]/.test(trimmed)) throw refused('must not have a query or fragment');
  if (trimmed.endsWith('/v1')) throw refused('must not end in /v1, which the client adds to each path');
  return trimmed;
}

/** Throws `TypeError` unless `accessToken` is a non-empty string or a function. */
function assertTokenSource(accessToken: unknown): void {
  if (typeof accessToken === 'function' || (typeof accessToken === 'string' && accessToken !== '')) return;
  throw new TypeError(
    'accessToken is missing; pass a token, a function that returns one, or browserToken() in a page',
  );
}

type Attempt = Request & {
  url: string;
  token: string;
  key: string | undefined;
  attempt: number;
  signal: AbortSignal | undefined;
};

async function sendOnce(options: CausewayOptions, request: Attempt): Promise<unknown> {
  const { method, path, body, attempt, signal } = request;
  const startedAt = performance.now();
  const report = (status: number, requestId: string | null, responseBody: unknown) =>
    options.onCall &&
    notify(options.onCall, {
      ...{ method, path: redactPath(path), status, attempt, requestId: requestId ?? undefined },
      milliseconds: performance.now() - startedAt,
      requestBody: redact(path, body),
      responseBody: redact(path, responseBody),
    });
  const timeout = AbortSignal.timeout(options.timeout ?? DEFAULT_TIMEOUT_MS);
  try {
    const reply = await (options.fetch ?? fetch)(`${request.url}${path}`, {
      method,
      headers: {
        accept: 'application/json',
        authorization: `Bearer ${request.token}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(request.key !== undefined && { 'idempotency-key': request.key }),
        ...(request.origin !== undefined && { origin: request.origin }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      // The service never redirects. Following a redirect would send the request's body to another server.
      redirect: 'manual',
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    });
    const parsed = isRedirect(reply) ? undefined : parseJson(await reply.text());
    report(reply.status, reply.headers.get('x-request-id'), parsed);
    assertNotRedirected(reply);
    if (!reply.ok || parsed === undefined) throw errorOfReply(reply.status, parsed, reply.headers);
    return parsed;
  } catch (error) {
    if (error instanceof CausewayError) throw error;
    report(0, null, undefined);
    signal?.throwIfAborted();
    throw new CausewayError({
      status: 0,
      code: timeout.aborted ? 'timeout' : 'network_error',
      message: timeout.aborted
        ? 'The service did not respond in time.'
        : 'The service could not be reached. Check the connection and baseUrl.',
      cause: error,
    });
  }
}

/** Browsers hide the status of a redirect that was not followed, and report the type `opaqueredirect` instead. */
function isRedirect({ status, type }: Response): boolean {
  return type === 'opaqueredirect' || (status >= 300 && status <= 399);
}

export function assertNotRedirected(reply: Response): void {
  if (!isRedirect(reply)) return;
  throw new CausewayError({
    status: reply.status,
    code: 'unexpected_reply',
    message: 'The server responded with a redirect, which the client does not follow. Check baseUrl.',
  });
}

/** Returns undefined if the text is not JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Returns true if the request may succeed with a new token. After `not_signed_in`, a new token does not help, because
 * no user is signed in.
 */
function isTokenRejected({ status, code }: CausewayError): boolean {
  return status === 401 && code !== 'not_signed_in';
}

/**
 * Returns whether to retry. GETs change nothing, and POSTs carry an idempotency key, so both are safe to repeat. A
 * DELETE is retried only if the service has not processed it. If only the response was lost, a second DELETE would fail
 * with 404.
 */
function isRetryable({ status, code, retryAfter }: CausewayError, method: Request['method']): boolean {
  if (retryAfter !== undefined && retryAfter > MAX_RETRY_AFTER_S) return false;
  if (status === 429) return true;
  if (code === 'idempotency_in_progress') return true;
  if (method === 'DELETE') return false;
  if (status === 0) return code !== 'unexpected_reply';
  return status === 502 || status === 503 || status === 504;
}

/** Returns the delay before a retry: exponential backoff with jitter, but at least `Retry-After`. */
function backoffMs(retryAfterS: number | undefined, attempt: number): number {
  const jitter = 0.5 + Math.random() / 2;
  const backoff = Math.min(INITIAL_BACKOFF_MS * 2 ** (attempt - 1), MAX_BACKOFF_MS) * jitter;
  return retryAfterS === undefined ? backoff : Math.max(retryAfterS * 1000, backoff);
}

function encodeQuery(query: Query = {}): string {
  const pairs = Object.entries(query).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, String(value)]],
  );
  return pairs.length === 0 ? '' : `?${new URLSearchParams(pairs)}`;
}
