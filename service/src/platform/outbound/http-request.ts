import type { Dispatcher, Pool } from 'undici';

export type HttpRequest = {
  method: Dispatcher.HttpMethod;
  path: string;
  headers: Record<string, string>;
  body?: string;
  /** Time limit for the whole response. */
  timeoutMs: number;
  /** Maximum size of the response body. */
  maxBytes: number;
};

export type HttpResponse = {
  status: number;
  text: string;
  /** Names and values in turn. See `findHeader`. */
  rawHeaders: Buffer[];
};

/** Returns the first value of a header, or undefined if there is none. The name must be in lower case. */
export function findHeader(rawHeaders: readonly Buffer[], name: string): string | undefined {
  const index = rawHeaders.findIndex((text, i) => i % 2 === 0 && String(text).toLowerCase() === name);
  return index === -1 ? undefined : String(rawHeaders[index + 1]);
}

/** Thrown if the response is not complete within the time limit. */
export class TimeoutError extends Error {}

/** Thrown if the response body exceeds the size limit. */
export class ResponseTooLargeError extends Error {}

/**
 * Sends a request and returns the whole response as text. Throws connection errors unchanged. Uses the dispatcher
 * directly: a general-purpose client creates streams and abort signals for each request, and these cost more than the
 * request itself. For the same reason, uses the dispatcher's older callbacks, which get the headers unparsed. undici 8
 * removes them.
 */
export function sendHttpRequest(
  pool: Pool,
  { timeoutMs, maxBytes, ...request }: HttpRequest,
): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let status = 0;
    let rawHeaders: Buffer[] = [];
    let abortRequest: ((error: Error) => void) | undefined;
    let failure: Error | undefined;
    const abort = (error: Error) => {
      failure = error;
      abortRequest?.(error);
      clearTimeout(timer);
      reject(error);
    };
    const timer = setTimeout(() => abort(new TimeoutError(`no response within ${timeoutMs} ms`)), timeoutMs);
    pool.dispatch(request, {
      onConnect: (cancel) => {
        abortRequest = cancel;
        // The time limit may have passed while the request waited for a connection.
        if (failure !== undefined) cancel(failure);
      },
      onHeaders: (code, received) => {
        status = code;
        rawHeaders = received;
        return true;
      },
      onData: (chunk) => {
        size += chunk.length;
        if (size > maxBytes) abort(new ResponseTooLargeError(`response exceeds ${maxBytes} bytes`));
        else chunks.push(chunk);
        return true;
      },
      onComplete: () => {
        clearTimeout(timer);
        const [first] = chunks;
        const text = chunks.length === 1 ? String(first) : Buffer.concat(chunks).toString();
        resolve({ status, text, rawHeaders });
      },
      onError: (error) => {
        clearTimeout(timer);
        reject(error);
      },
    });
  });
}
