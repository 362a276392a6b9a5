import { CausewayError, errorOfReply } from './error.ts';
import { redact, redactPath } from './redact.ts';
import { sleep } from './sleep.ts';

/** Gives the access token to send; asked again with `refresh` after the service has refused one. */
export type TokenSource = string | ((asked: { refresh: boolean }) => string | Promise<string>);

/** A finished attempt, safe to show: secrets and personal data are taken out. */
export type Call = {
  method: string;
  /** With its query. */
  path: string;
  /** 0 when there was no reply. */
  status: number;
  milliseconds: number;
  /** 1 for the first. */
  attempt: number;
  requestId: string | undefined;
  requestBody: unknown;
  responseBody: unknown;
};

export type CausewayOptions = {
  /** Where the service is: `https://…`, without a path. */
  baseUrl: string;
  accessToken: TokenSource;
  fetch?: typeof fetch | undefined;
  /** Milliseconds for one attempt; 20,000 unless told. */
  timeout?: number | undefined;
  /** Further attempts of what is safe to repeat; 3 unless told. */
  retries?: number | undefined;
  /** Told of every attempt, for logs and developer tools. */
  onCall?: ((call: Call) => void) | undefined;
};

export type RequestOptions = {
  signal?: AbortSignal | undefined;
  /** For POSTs; each call has one of its own unless you give one that outlives the page. */
  idempotencyKey?: string | undefined;
};

type Query = Record<string, string | number | boolean | undefined>;
export type Request = {
  method: 'GET' | 'POST' | 'DELETE';
  path: string;
  query?: Query | undefined;
  body?: unknown;
};

/** Sends a request with retries and gives the parsed reply. */
export type Send = <Reply>(request: Request, options?: RequestOptions) => Promise<Reply>;

const FIRST_PAUSE = 250;
const LONGEST_PAUSE = 8_000;
/** A longer wait is the caller's decision. */
const LONGEST_RETRY_AFTER = 30;

export function createSend(options: CausewayOptions): Send {
  const base = options.baseUrl.replace(/\/+$/, '');
  const retries = options.retries ?? 3;
  const tokenOf = async (refresh: boolean) =>
    typeof options.accessToken === 'string' ? options.accessToken : options.accessToken({ refresh });

  return async <Reply>(request: Request, { signal, idempotencyKey }: RequestOptions = {}) => {
    const path = `${request.path}${queryOf(request.query)}`;
    const key = request.method === 'POST' ? (idempotencyKey ?? crypto.randomUUID()) : undefined;
    let refused = false;
    for (let attempt = 1, refresh = false; ; attempt++) {
      signal?.throwIfAborted();
      try {
        const token = await tokenOf(refresh);
        refresh = false;
        return (await attemptOnce(options, {
          ...request,
          url: base,
          path,
          token,
          key,
          attempt,
          signal,
        })) as Reply;
      } catch (error) {
        if (!(error instanceof CausewayError)) throw error;
        if (isRefusal(error) && !refused && typeof options.accessToken === 'function') {
          refused = true;
          refresh = true;
          continue;
        }
        if (attempt > retries || !isWorthRepeating(error, request.method)) throw error;
        await pause(error.retryAfter, attempt, signal);
      }
    }
  };
}

type Attempt = Request & {
  url: string;
  token: string;
  key: string | undefined;
  attempt: number;
  signal: AbortSignal | undefined;
};

async function attemptOnce(options: CausewayOptions, one: Attempt): Promise<unknown> {
  const { method, path, body, attempt, signal } = one;
  const begun = performance.now();
  const tell = (status: number, requestId: string | null, responseBody: unknown) =>
    options.onCall?.({
      ...{ method, path: redactPath(path), status, attempt, requestId: requestId ?? undefined },
      milliseconds: performance.now() - begun,
      requestBody: redact(one.path, body),
      responseBody: redact(one.path, responseBody),
    });
  const limit = AbortSignal.timeout(options.timeout ?? 20_000);
  try {
    const reply = await (options.fetch ?? fetch)(`${one.url}${path}`, {
      method,
      headers: {
        accept: 'application/json',
        authorization: `Bearer ${one.token}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(one.key !== undefined && { 'idempotency-key': one.key }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: signal === undefined ? limit : AbortSignal.any([signal, limit]),
    });
    const parsed = parse(await reply.text());
    tell(reply.status, reply.headers.get('x-request-id'), parsed);
    if (!reply.ok || parsed === undefined) throw errorOfReply(reply.status, parsed, reply.headers);
    return parsed;
  } catch (error) {
    if (error instanceof CausewayError) throw error;
    tell(0, null, undefined);
    signal?.throwIfAborted();
    throw new CausewayError({
      status: 0,
      code: limit.aborted ? 'timeout' : 'network_error',
      message: limit.aborted ? 'The service did not answer in time.' : 'The service could not be reached.',
      cause: error,
    });
  }
}

/** Undefined for what is not JSON. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Of the token; when there is none to be had, asking again does not help. */
function isRefusal({ status, code }: CausewayError): boolean {
  return status === 401 && code !== 'not_signed_in';
}

/**
 * GETs change nothing and POSTs carry a key that lets them happen once. A DELETE whose reply was lost would be
 * answered 404 the second time, so it is repeated only when it was surely not carried out.
 */
function isWorthRepeating({ status, code, retryAfter }: CausewayError, method: Request['method']): boolean {
  if (retryAfter !== undefined && retryAfter > LONGEST_RETRY_AFTER) return false;
  if (status === 429) return true;
  if (code === 'idempotency_in_progress') return true;
  if (method === 'DELETE') return false;
  return status === 0 || status === 502 || status === 503 || status === 504;
}

function pause(seconds: number | undefined, attempt: number, signal: AbortSignal | undefined): Promise<void> {
  // Half of it by chance, so that many clients do not come back together.
  const growing = Math.min(FIRST_PAUSE * 2 ** (attempt - 1), LONGEST_PAUSE) * (0.5 + Math.random() / 2);
  const milliseconds = seconds === undefined ? growing : Math.max(seconds * 1000, growing);
  return sleep(milliseconds, signal);
}

function queryOf(query: Query = {}): string {
  const given = Object.entries(query).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, String(value)]],
  );
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
}
