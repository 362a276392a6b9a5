import { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';

/** What the library's middleware needs to know of the request that it does not carry itself. */
export type Origin = { id: string; origin: string | undefined };

const ORIGIN = Symbol('origin');

export type LibraryRequest = IncomingMessage & { [ORIGIN]: Origin };

export function originOf(request: IncomingMessage): Origin {
  return (request as LibraryRequest)[ORIGIN];
}

/**
 * The request as the library should see it: at our public address, whatever proxy stands in front, and with a
 * form for a body, whatever the client sent.
 */
export function libraryRequest(request: FastifyRequest, baseUrl: string, form?: string): LibraryRequest {
  const { raw } = request;
  const copy = new IncomingMessage(raw.socket) as LibraryRequest;
  const { protocol, host } = new URL(baseUrl);
  const {
    'content-type': _type,
    'content-length': _length,
    'transfer-encoding': _encoding,
    ...headers
  } = raw.headers;
  copy.headers = {
    ...headers,
    host,
    'x-forwarded-host': host,
    'x-forwarded-proto': protocol.slice(0, -1),
    'x-forwarded-for': request.ip,
  };
  if (form !== undefined) {
    copy.headers['content-type'] = 'application/x-www-form-urlencoded';
    copy.headers['content-length'] = String(Buffer.byteLength(form));
    copy.push(form);
  }
  copy.push(null);
  copy.method = raw.method ?? 'GET';
  copy.url = raw.url ?? '/';
  copy.httpVersion = raw.httpVersion;
  // Without it the end of this copy would be taken for the client hanging up, and its socket be closed.
  copy.complete = true;
  copy[ORIGIN] = { id: request.id, origin: raw.headers.origin };
  return copy;
}
