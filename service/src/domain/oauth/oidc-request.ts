import { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';

export type RequestFacts = { id: string; origin: string | undefined };

const FACTS = Symbol('facts');

export type OidcRequest = IncomingMessage & { [FACTS]: RequestFacts };

export function requestFacts(request: IncomingMessage): RequestFacts {
  return (request as OidcRequest)[FACTS];
}

/**
 * Copies the request for oidc-provider. The copy has the host of `baseUrl`, even if a proxy in front of us has changed
 * the host. The body of the copy is `form`, even if the client sent JSON. Without `form`, the copy has no body.
 */
export function oidcRequest(request: FastifyRequest, baseUrl: string, form?: string): OidcRequest {
  const { raw } = request;
  const copy = new IncomingMessage(raw.socket) as OidcRequest;
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
  copy.url = (raw.url ?? '/').replace(/\/(?=\?|$)/, '');
  copy.httpVersion = raw.httpVersion;
  // If the copy were not marked as complete, Node would treat its end as an aborted request and close the client's
  // socket.
  copy.complete = true;
  copy[FACTS] = { id: request.id, origin: raw.headers.origin };
  return copy;
}
