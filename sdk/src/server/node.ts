import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Handler, isSamePath } from './handler.ts';

/** A request listener for `node:http`, Connect and Express. */
export type NodeHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  next?: (error?: unknown) => void,
) => void;

/** Any function from a web `Request` to a `Response`. */
export type WebHandler = (request: Request) => Promise<Response>;

export type ToNodeOptions = {
  /**
   * The maximum size of a request body, in bytes. Requests with larger bodies get a 413 response. Default: bodies are
   * not read. Keep the default for `createHandler`, and for apps whose body parser has already read the body.
   */
  maxBodyBytes?: number | undefined;
  /** Receives errors from the handler if there is no `next` to pass them to. */
  onError?: ((error: unknown) => void) | undefined;
};

/**
 * Adapts a handler to `node:http` and Express. A handler from `createHandler` answers only its own paths. It passes
 * other requests to `next`, or answers them with 404 if there is no `next`. Any other handler answers every request.
 *
 * @example
 * ```ts
 * import { createServer } from 'node:http';
 * import { createHandler, createSignIn, toNode } from '@causeway/sdk/server';
 *
 * const signIn = createSignIn({
 *   baseUrl: 'http://127.0.0.1:8080',
 *   clientId: 'sandbox-partner',
 *   clientSecret: process.env.CAUSEWAY_CLIENT_SECRET ?? '',
 *   redirectUri: 'http://localhost:3000/callback',
 *   cookieSecret: process.env.COOKIE_SECRET ?? 'x'.repeat(32),
 * });
 * const causeway = toNode(createHandler(signIn)); // Express: app.use(causeway)
 * const server = createServer((request, response) => {
 *   causeway(request, response, () => response.end('the rest of the app'));
 * });
 * server.listen(0, '127.0.0.1', () => server.close());
 * ```
 */
export function toNode(handler: Handler | WebHandler, options: ToNodeOptions = {}): NodeHandler {
  const { maxBodyBytes, onError } = options;
  const routes = 'routes' in handler ? handler.routes : undefined;
  return (request, response, next) => {
    // Express removes the mount path from `url`, but not from `originalUrl`.
    const target = (request as { originalUrl?: string }).originalUrl ?? request.url ?? '/';
    const [requested = ''] = target.split('?', 1);
    if (next !== undefined && routes?.some(({ path }) => isSamePath(path, requested)) === false)
      return next();
    respond(handler, request, target, response, maxBodyBytes).catch((error) => {
      if (next !== undefined) return next(error);
      onError?.(error);
      if (!response.headersSent) response.statusCode = 500;
      response.end();
    });
  };
}

async function respond(
  handler: WebHandler,
  request: IncomingMessage,
  target: string,
  response: ServerResponse,
  maxBodyBytes: number | undefined,
): Promise<void> {
  const payload = maxBodyBytes === undefined ? null : await readBody(request, maxBodyBytes);
  const { status, headers, body } =
    payload === 'too_large'
      ? new Response(null, { status: 413 })
      : await handler(toWebRequest(request, target, payload));
  response.statusCode = status;
  for (const [name, value] of headers) if (name !== 'set-cookie') response.setHeader(name, value);
  const cookies = headers.getSetCookie();
  if (cookies.length > 0) response.appendHeader('set-cookie', cookies);
  if (body === null) return void response.end();
  const content = Buffer.from(await new Response(body).arrayBuffer());
  response.setHeader('content-length', content.length);
  response.end(content);
}

/**
 * Converts a Node request to a web `Request`. The URL of the `Request` always has the host `localhost`, because the
 * Host header comes from the client. Handlers need only the path and the query.
 */
function toWebRequest(
  { method = 'GET', headers }: IncomingMessage,
  target: string,
  body: Uint8Array<ArrayBuffer> | null,
): Request {
  const url = `http://localhost${target.startsWith('/') ? target : '/'}`;
  const kept = new Headers();
  for (const [name, value] of Object.entries(headers))
    if (typeof value === 'string' && !name.startsWith(':')) kept.set(name, value);
  return new Request(url, { method: method === 'HEAD' ? 'GET' : method, headers: kept, body });
}

async function readBody(
  request: IncomingMessage,
  maxBytes: number,
): Promise<Uint8Array<ArrayBuffer> | 'too_large' | null> {
  if (request.method === 'GET' || request.method === 'HEAD') return null;
  const chunks: Buffer[] = [];
  let size = 0;
  // Destroying the request here would close the connection before the 413 is sent.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) return 'too_large';
    chunks.push(chunk);
  }
  return new Uint8Array(Buffer.concat(chunks));
}

/** The subset of a Fastify instance that `toFastify` uses. */
export type FastifyLike = {
  removeAllContentTypeParsers(): void;
  addContentTypeParser(
    type: string,
    parse: (request: unknown, payload: { resume(): void }) => Promise<null>,
  ): void;
  route(route: {
    method: 'GET' | 'POST';
    url: string;
    handler(request: { raw: IncomingMessage }, reply: { hijack(): void; raw: ServerResponse }): void;
  }): void;
};

/**
 * Adapts a handler to a Fastify plugin: `app.register(toFastify(handler))`.
 *
 * @example
 * ```ts
 * import { createHandler, createSignIn, type FastifyLike, toFastify } from '@causeway/sdk/server';
 *
 * export async function addSignIn(app: FastifyLike, clientSecret: string, cookieSecret: string) {
 *   const signIn = createSignIn({
 *     baseUrl: 'http://127.0.0.1:8080',
 *     clientId: 'sandbox-partner',
 *     clientSecret,
 *     redirectUri: 'http://localhost:3000/callback',
 *     cookieSecret,
 *   });
 *   await toFastify(createHandler(signIn))(app); // or app.register(toFastify(…))
 * }
 * ```
 */
export function toFastify(handler: Handler): (app: FastifyLike) => Promise<void> {
  const node = toNode(handler);
  return async (app) => {
    // Accepts any content type, because sign-out is a form post, which Fastify rejects by default. Discards the body,
    // which is not needed.
    app.removeAllContentTypeParsers();
    app.addContentTypeParser('*', async (_request, payload) => {
      payload.resume();
      return null;
    });
    const answer: Parameters<FastifyLike['route']>[0]['handler'] = (request, reply) => {
      reply.hijack();
      node(request.raw, reply.raw);
    };
    for (const { method, path } of handler.routes) {
      app.route({ method, url: path, handler: answer });
      const other = path.endsWith('/') ? path.slice(0, -1) : `${path}/`;
      if (other === '') continue;
      try {
        app.route({ method, url: other, handler: answer });
      } catch (error) {
        // With `ignoreTrailingSlash`, the first route already covers the path with and without the slash.
        if ((error as { code?: unknown }).code !== 'FST_ERR_DUPLICATED_ROUTE') throw error;
      }
    }
  };
}
