import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Handler } from './handler.ts';

/** What Node's http, Connect and Express take. */
export type NodeHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  next?: (error?: unknown) => void,
) => void;

/**
 * The handler for `node:http` and Express: what is not its own goes on to `next`, or is 404 where there is none.
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
export function toNode(handler: Handler): NodeHandler {
  return (request, response, next) => {
    // Express takes the path it is mounted at away from `url`.
    const target = (request as { originalUrl?: string }).originalUrl ?? request.url ?? '/';
    const path = target.split('?', 1)[0];
    if (next !== undefined && !handler.routes.some((route) => route.path === path)) return next();
    answer(handler, request, target, response).catch((error) => {
      if (next !== undefined) return next(error);
      response.statusCode = 500;
      response.end();
    });
  };
}

async function answer(handler: Handler, request: IncomingMessage, target: string, response: ServerResponse) {
  const { status, headers, body } = await handler(requestOf(request, target));
  response.statusCode = status;
  for (const [name, value] of headers) if (name !== 'set-cookie') response.setHeader(name, value);
  const cookies = headers.getSetCookie();
  if (cookies.length > 0) response.appendHeader('set-cookie', cookies);
  response.end(body === null ? undefined : Buffer.from(await new Response(body).arrayBuffer()));
}

/** Without the body, which none of the handlers reads and a parser may have taken. The host is never looked at. */
function requestOf({ method = 'GET', headers }: IncomingMessage, target: string): Request {
  const url = `http://localhost${target.startsWith('/') ? target : '/'}`;
  const kept = new Headers();
  for (const [name, value] of Object.entries(headers))
    if (typeof value === 'string' && !name.startsWith(':')) kept.set(name, value);
  return new Request(url, { method: method === 'HEAD' ? 'GET' : method, headers: kept });
}

/** What this needs of Fastify; its own instance fits. */
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
 * The handler as a Fastify plugin: `app.register(toFastify(handler))`.
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
    // A sign-out comes as a form, whose body nobody reads; Fastify would refuse the type.
    app.removeAllContentTypeParsers();
    app.addContentTypeParser('*', async (_request, payload) => {
      payload.resume();
      return null;
    });
    for (const { method, path } of handler.routes)
      app.route({
        method,
        url: path,
        handler: (request, reply) => {
          reply.hijack();
          node(request.raw, reply.raw);
        },
      });
  };
}
