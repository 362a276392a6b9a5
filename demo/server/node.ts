import type { IncomingMessage, ServerResponse } from 'node:http';

const LARGEST_BODY = 65_536;

/** Lets a function of `Request` and `Response` answer a request of Node. */
export function answerWeb(
  request: IncomingMessage,
  response: ServerResponse,
  origin: string,
  answer: (request: Request) => Promise<Response>,
  onError: (error: unknown) => void,
): void {
  readRequest(request, origin)
    .then(answer)
    .then((reply) => send(reply, request, response))
    .catch((error) => {
      onError(error);
      if (!response.headersSent) response.statusCode = 500;
      response.end();
    });
}

async function readRequest(request: IncomingMessage, origin: string): Promise<Request> {
  const method = request.method ?? 'GET';
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers))
    if (typeof value === 'string') headers.set(name, value);
  const path = request.url?.startsWith('/') === true ? request.url : '/';
  const hasBody = method !== 'GET' && method !== 'HEAD';
  const body = hasBody ? await readBody(request) : null;
  // The host that the request names is not trusted for anything.
  return new Request(new URL(`.${path}`, `${origin}/`), { method, headers, body });
}

async function readBody(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > LARGEST_BODY) throw new Error('the body of a request is too large');
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

async function send(reply: Response, request: IncomingMessage, response: ServerResponse): Promise<void> {
  response.statusCode = reply.status;
  for (const [name, value] of reply.headers) if (name !== 'set-cookie') response.setHeader(name, value);
  const cookies = reply.headers.getSetCookie();
  if (cookies.length > 0) response.setHeader('set-cookie', cookies);
  const body = Buffer.from(await reply.arrayBuffer());
  response.setHeader('content-length', body.length);
  response.end(request.method === 'HEAD' ? undefined : body);
}
