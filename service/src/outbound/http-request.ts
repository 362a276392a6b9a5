import type { IncomingHttpHeaders } from 'node:http';
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

export type HttpResponse = { status: number; headers: IncomingHttpHeaders; text: string };

/** Thrown if the response is not complete within the time limit. */
export class TimeoutError extends Error {}

/** Thrown if the response body exceeds the size limit. */
export class ResponseTooLargeError extends Error {}

/**
 * Sends a request and returns the whole response as text. Throws connection errors unchanged. Uses the dispatcher
 * directly: a general-purpose client creates streams and abort signals for each request, and these cost more than the
 * request itself.
 */
export function sendHttpRequest(
  pool: Pool,
  { timeoutMs, maxBytes, ...request }: HttpRequest,
): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let status = 0;
    let headers: IncomingHttpHeaders = {};
    let running: Dispatcher.DispatchController | undefined;
    let failure: Error | undefined;
    const abort = (error: Error) => {
      failure = error;
      running?.abort(error);
      clearTimeout(timer);
      reject(error);
    };
    const timer = setTimeout(() => abort(new TimeoutError(`no response within ${timeoutMs} ms`)), timeoutMs);
    pool.dispatch(request, {
      onRequestStart: (controller) => {
        running = controller;
        // The time limit may have passed while the request waited for a connection.
        if (failure !== undefined) controller.abort(failure);
      },
      onResponseStart: (_controller, code, received) => {
        status = code;
        headers = received;
      },
      onResponseData: (_controller, chunk) => {
        size += chunk.length;
        if (size > maxBytes) abort(new ResponseTooLargeError(`response exceeds ${maxBytes} bytes`));
        else chunks.push(chunk);
      },
      onResponseEnd: () => {
        clearTimeout(timer);
        const [first] = chunks;
        const text = chunks.length === 1 ? String(first) : Buffer.concat(chunks).toString();
        resolve({ status, headers, text });
      },
      onResponseError: (_controller, error) => {
        clearTimeout(timer);
        reject(error);
      },
    });
  });
}
