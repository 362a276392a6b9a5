import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher, Pool } from 'undici';

export type HttpRequest = {
  method: Dispatcher.HttpMethod;
  path: string;
  headers: Record<string, string>;
  body?: string;
  /** Milliseconds until the answer has to be here, its last byte included. */
  timeout: number;
  /** The most bytes of an answer. */
  limit: number;
};

export type HttpResponse = { status: number; headers: IncomingHttpHeaders; text: string };

/** There was no whole answer in time. */
export class TimeoutError extends Error {}

/** The answer is longer than anybody wants to read. */
export class ResponseTooLargeError extends Error {}

/**
 * A small request and its whole answer as text. Straight on the dispatcher: the streams and signals that a general
 * client makes for each request cost more than the request. Throws what the connection throws.
 */
export function sendHttpRequest(
  pool: Pool,
  { timeout, limit, ...request }: HttpRequest,
): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let status = 0;
    let headers: IncomingHttpHeaders = {};
    let running: Dispatcher.DispatchController | undefined;
    let ended: Error | undefined;
    const end = (error: Error) => {
      ended = error;
      running?.abort(error);
      clearTimeout(timer);
      reject(error);
    };
    const timer = setTimeout(() => end(new TimeoutError(`no answer within ${timeout} ms`)), timeout);
    pool.dispatch(request, {
      onRequestStart: (controller) => {
        running = controller;
        // Its time was over before it had a connection.
        if (ended !== undefined) controller.abort(ended);
      },
      onResponseStart: (_controller, code, received) => {
        status = code;
        headers = received;
      },
      onResponseData: (_controller, chunk) => {
        size += chunk.length;
        if (size > limit) end(new ResponseTooLargeError(`an answer of more than ${limit} bytes`));
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
