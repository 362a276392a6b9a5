import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import findMyWay from 'find-my-way';
import { actorOf, type Caller } from '../../kernel/access.ts';
import { ApiError, type ErrorCode } from '../../kernel/errors.ts';
import { compileSerializer, compileValidator } from '../../kernel/validation.ts';
import type { Context } from '../context/context.ts';
import { HANDLER_TIMEOUT_MS } from '../limits/deadline.ts';
import { addRoute } from './add-route.ts';
import { readBodies } from './bodies.ts';
import {
  failureBody,
  logFailure,
  oauthMembers,
  parserError,
  rawFailure,
  toApiError,
  toOAuthError,
} from './failure.ts';
import { clientNetwork } from './network.ts';
import { parseQuery } from './query-string.ts';
import { acceptsHtml, setCorsHeaders, setPreflightHeaders, VARY } from './replies.ts';
import { MAX_URL_LENGTH, refuseRequest } from './request-checks.ts';
import { requestRecorder } from './request-log.ts';
import type { Access, Route } from './route.ts';

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller | null;
    isForm: boolean;
    /** Whether the request writes, and nobody has checked yet whether its user is on hold. */
    isHoldUnchecked: boolean;
    startedAt: number;
    errorCode: string | null;
  }
  interface FastifyContextConfig {
    access?: Access;
    forms?: true;
    rawBody?: true;
  }
}

const MAX_BODY_BYTES = 64 * 1024;
const REQUEST_ID = /^[A-Za-z0-9._:-]{1,128}$/;

/** Registers routes that cannot be declared as a `Route`. Each of these routes must set `config.access`. */
export type Plugin = (app: FastifyInstance) => Promise<void> | void;

/** Shows a page to a browser that requests an unknown path. Returns false for API paths. */
export type UnknownPage = (request: FastifyRequest, reply: FastifyReply) => boolean;

export async function buildServer(
  ctx: Context,
  routes: readonly Route[],
  plugins: readonly Plugin[] = [],
  showUnknown: UnknownPage = () => false,
): Promise<FastifyInstance> {
  const requestTimeout = ctx.config.requestTimeoutSeconds * 1000;
  const app = fastify({
    logger: false,
    bodyLimit: MAX_BODY_BYTES,
    forceCloseConnections: 'idle',
    // Requests that arrive on an open connection while the server closes are still answered.
    return503OnClosing: false,
    trustProxy: ctx.config.trustProxy.length > 0 && ctx.config.trustProxy,
    genReqId: chooseRequestId,
    routerOptions: {
      querystringParser: parseQuery,
      maxParamLength: MAX_URL_LENGTH,
      ignoreTrailingSlash: true,
    },
    // Limits how long a client may take to send its request; `ctx.deadlines` limits the handlers.
    requestTimeout,
    keepAliveTimeout: 72_000,
    // Closes a connection on which nothing has moved for this long. The client has then stopped reading, because
    // handlers take less time and streams send heartbeats. What it does not read would stay in our memory.
    connectionTimeout: HANDLER_TIMEOUT_MS + requestTimeout,
    http: {
      // By default, Node itself answers a request without a Host header, with an empty body. With this option off,
      // `refuseRequest` answers with the error object.
      requireHostHeader: false,
      headersTimeout: requestTimeout,
      connectionsCheckingInterval: Math.min(1_000, requestTimeout / 4),
    },
    frameworkErrors: (error, request, reply) => fail(ctx, error, request, reply),
    clientErrorHandler: (error, socket) => {
      if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy();
      socket.end(rawFailure(ctx.securityHeaders, parserError(error), randomUUID()));
    },
  });
  app.server.on('connection', ctx.overload.noticeConnection);
  answerRawRequests(ctx, app);
  const methods = collectMethods(app);
  app
    .decorateRequest('caller', null)
    .decorateRequest('isForm', false)
    .decorateRequest('isHoldUnchecked', false)
    .decorateRequest('startedAt', 0)
    .decorateRequest('errorCode', null);
  app.setValidatorCompiler(compileValidator).setSerializerCompiler(compileSerializer);
  app.setErrorHandler((error, request, reply) =>
    request.isHoldUnchecked
      ? refusalOf(ctx, request, error).then((cause) => fail(ctx, cause, request, reply))
      : fail(ctx, error, request, reply),
  );
  const recordUnknown = requestRecorder(ctx, '-', '-');
  app.addHook('onRequest', async (request, reply) => {
    request.startedAt = performance.now();
    const admitted = admit(ctx, request);
    if (!request.is404) return admitted;
    await admitted.catch((error) => fail(ctx, error, request, reply));
    // Replies before the body is read, because the body does not matter if the path or method does not exist.
    const isPage = isBrowser(request) && methods(request.url).length === 0;
    if (!reply.sent && !(isPage && showUnknown(request, reply))) replyToUnknown(ctx, methods, request, reply);
    recordUnknown(request, reply.statusCode);
    return reply;
  });
  // Close the streams first, because open streams would keep the server from closing.
  app.addHook('preClose', async () => ctx.streams.close());
  readBodies(app);
  for (const route of routes) addRoute(app, ctx, route);
  for (const plugin of plugins) await app.register(async (scope) => plugin(scope));
  return app;
}

/** Returns the caller's request id if that id is safe to log, otherwise a new id. */
function chooseRequestId({ headers }: IncomingMessage): string {
  const sent = headers['x-request-id'];
  return typeof sent === 'string' && REQUEST_ID.test(sent) ? sent : randomUUID();
}

/**
 * Waits for the request's turn, in the lane of the partner whose token it has, or of its network if the token is not
 * known yet. Probes are always answered, because a busy node that looks dead would be restarted.
 */
async function admit({ guard, overload }: Context, request: FastifyRequest): Promise<void> {
  const token = request.headers.authorization?.slice('Bearer '.length) ?? '';
  if (request.is404 || !request.url.startsWith('/health'))
    await overload.admit(guard.partnerOf(token) ?? clientNetwork(request));
  refuseRequest(request);
}

/**
 * Answers two kinds of requests that Node would otherwise handle itself. Node would refuse an unsupported `Expect`
 * header with an empty response, and would drop CONNECT requests.
 */
function answerRawRequests(ctx: Context, app: FastifyInstance): void {
  const answer = (error: ApiError) => rawFailure(ctx.securityHeaders, error, randomUUID());
  app.server.on('checkExpectation', ({ socket }: FastifyRequest['raw']) =>
    socket.end(
      answer(
        new ApiError('malformed_request', {}, { message: 'The Expect header has an unsupported value.' }),
      ),
    ),
  );
  app.server.on('connect', (_request, socket) => socket.end(answer(new ApiError('method_not_allowed'))));
}

/** Collects the methods of each path, and throws for routes that do not declare who may call them. */
function collectMethods(app: FastifyInstance) {
  const router = findMyWay({ maxParamLength: MAX_URL_LENGTH, ignoreTrailingSlash: true });
  app.addHook('onRoute', ({ method, url, config }) => {
    if (config?.access === undefined)
      throw new Error(`route ${method} ${url} does not declare who may call it`);
    const added = [method].flat();
    const known = router.findRoute('GET', url);
    if (known === null) router.on('GET', url, () => {}, { methods: new Set(added) });
    else for (const each of added) (known.store as { methods: Set<string> }).methods.add(each);
  });
  return (path: string): string[] => {
    const found = router.find('GET', path.split('?', 1)[0] ?? path);
    return found === null ? [] : [...(found.store as { methods: Set<string> }).methods];
  };
}

function isBrowser(request: FastifyRequest): boolean {
  return (request.method === 'GET' || request.method === 'HEAD') && acceptsHtml(request);
}

function replyToUnknown(
  ctx: Context,
  methods: (path: string) => string[],
  request: FastifyRequest,
  reply: FastifyReply,
) {
  const allowed = methods(request.url);
  if (request.method === 'OPTIONS' && allowed.length > 0) {
    if (setCorsHeaders(ctx, null, request, reply)) setPreflightHeaders(reply);
    return reply
      .headers(ctx.securityHeaders)
      .headers({ 'x-request-id': request.id, allow: allowed.join(', ') })
      .code(204)
      .send();
  }
  if (allowed.length === 0) return fail(ctx, new ApiError('not_found'), request, reply);
  return fail(
    ctx,
    new ApiError('method_not_allowed', {}, { headers: { allow: allowed.join(', ') } }),
    request,
    reply,
  );
}

/** Returns the error that says why the caller may not write, or `error` if the caller may. */
async function refusalOf(ctx: Context, { caller }: FastifyRequest, error: unknown): Promise<unknown> {
  if (caller?.userId == null) return error;
  return ctx
    .forPartner(caller.partnerId)
    .assertMayWrite(caller.userId)
    .then(
      () => error,
      (refusal: unknown) => refusal,
    );
}

/** The access errors that are recorded in the audit log. */
const ACCESS_REFUSALS: ReadonlySet<ErrorCode> = new Set([
  'insufficient_scope',
  'user_token_required',
  'account_restricted',
]);

function fail(ctx: Context, thrown: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const isOAuth = request.url.startsWith('/oauth/');
  const error = isOAuth ? toOAuthError(toApiError(thrown)) : toApiError(thrown);
  request.errorCode = error.code;
  logFailure(ctx, error, request);
  const { caller } = request;
  if (caller != null && ACCESS_REFUSALS.has(error.code))
    ctx.recordRefusal({
      ...{ actor: actorOf(caller), action: 'access.refused', reason: error.code, requestId: request.id },
      subject: { object: 'route', id: `${request.method} ${request.routeOptions.url}` },
    });
  // A request that failed before routing has no `caller` property.
  setCorsHeaders(ctx, request.caller ?? null, request, reply);
  reply
    .code(error.status)
    .headers(ctx.securityHeaders)
    .headers({
      ...(error.status === 503 && { 'retry-after': '5' }),
      ...error.headers,
      'x-request-id': request.id,
      'cache-control': 'no-store',
      vary: VARY,
    })
    .type('application/json; charset=utf-8')
    .serializer((body: unknown) => JSON.stringify(body))
    .send({
      ...(isOAuth && oauthMembers(error)),
      ...failureBody(error, request.id),
    });
}
