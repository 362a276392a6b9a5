import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { authorize, bearerToken, type Caller, unauthorized } from '../../kernel/access.ts';
import { ApiError } from '../../kernel/errors.ts';
import { bodyCheck } from '../../kernel/validation.ts';
import type { Context } from '../context/context.ts';
import type { Taken } from '../limits/rate-limits.ts';
import { forRequest } from './for-request.ts';
import { readIdempotencyKey, runOnce } from './idempotency.ts';
import { clientNetwork } from './network.ts';
import {
  CACHE_CONTROL,
  etagOf,
  matchesEtag,
  STREAM_HEADERS,
  setCorsHeaders,
  setLimitHeaders,
  VARY,
} from './replies.ts';
import { requestRecorder } from './request-log.ts';
import type { Access, Route } from './route.ts';

const MAX_RAW_BODY_BYTES = 1_048_576;
const MAX_CACHED_ETAGS = 1_000;
const EMPTY_BODY = Buffer.alloc(0);

type Next = (error?: Error) => void;

/**
 * Registers a declared route with authentication, rate limits, validation, caching, logging and metrics. The hooks run
 * for every request, so they are synchronous where possible and create no closures per request.
 */
export function addRoute(app: FastifyInstance, ctx: Context, route: Route): void {
  const { method, path, access, forms, rawBody } = route;
  const isAudited = (method !== 'GET' || route.isAudited === true) && access.who !== 'public';
  const checkBody = route.body === undefined ? undefined : bodyCheck(route.body);
  const serialize = route.cache === 'etag' || route.keepsText ? textCache() : undefined;
  const handle = (input: Input): unknown => {
    const { caller } = input.request;
    if (caller === null) return route.handle(ctx, caller, input);
    const own = ctx.forPartner(caller.partnerId);
    if (!isAudited) return route.handle(own, caller, input);
    const requestCtx = forRequest(own, input.request);
    return isKeyed(route, input.request)
      ? handleOnce(requestCtx, route, caller, input)
      : route.handle(requestCtx, caller, input);
  };
  app.route({
    method,
    url: path,
    // A stream has no HEAD route, because a HEAD request would open a stream that nobody reads.
    ...(route.stream && { exposeHeadRoute: false }),
    config: { access, ...(forms && { forms }), ...(rawBody && { rawBody }) },
    ...(rawBody && { bodyLimit: MAX_RAW_BODY_BYTES }),
    schema: {
      ...(route.params && { params: route.params }),
      ...(route.query && { querystring: route.query }),
      ...(route.plainReply !== true && !route.stream && { response: { 200: route.reply } }),
    },
    onRequest: admit(ctx, route),
    onSend: finish(ctx, route),
    handler: (request, reply) => {
      const body = request.body === undefined ? (rawBody ? EMPTY_BODY : {}) : request.body;
      checkBody?.(body, request.isForm);
      const input = { params: request.params, query: request.query, body, request, reply };
      const result = handle(input);
      if (route.stream) return ctx.deadlines.watch(replyWithStream(result as Promise<Readable>, reply));
      if (result instanceof Promise) return ctx.deadlines.watch(result);
      return serialize === undefined ? result : serialize(result as Record<string, unknown>, reply);
    },
  });
}

/**
 * Returns a serializer that caches the text of each reply object. Used only for objects that the handler has returned
 * synchronously: such an object is cached and never changes, so the text stays correct.
 */
function textCache() {
  const texts = new WeakMap<object, string>();
  return (result: Record<string, unknown>, reply: FastifyReply): string => {
    const known = texts.get(result);
    const text = known ?? String(reply.serializeInput(result, '200'));
    if (known === undefined) texts.set(result, text);
    reply.type('application/json; charset=utf-8');
    return text;
  };
}

async function replyWithStream(result: Promise<Readable>, reply: FastifyReply): Promise<Readable> {
  const stream = await result;
  // If the request has timed out or the client has left, nobody would read or close the stream.
  if (reply.sent || reply.raw.destroyed) stream.destroy();
  reply.headers(STREAM_HEADERS);
  return stream;
}

/** Returns whether the request is handled only once; see `runOnce`. */
function isKeyed({ method }: Route, { headers }: FastifyRequest): boolean {
  return method === 'POST' && headers['idempotency-key'] !== undefined;
}

type Input = { params: unknown; query: unknown; body: unknown; request: FastifyRequest; reply: FastifyReply };

async function handleOnce(ctx: Context, route: Route, caller: Caller, input: Input): Promise<unknown> {
  const { request, reply, body } = input;
  const key = readIdempotencyKey(request.headers['idempotency-key']);
  const path = (request.url.split('?', 1)[0] ?? '').replace(/\/$/, '');
  request.isHoldUnchecked = false;
  const outcome = await runOnce(ctx, caller, { method: route.method, path, key, body }, async (inner) =>
    route.handle(inner, caller, input),
  );
  if (outcome.replayed) {
    await route.recheck?.(ctx, caller, input, outcome.reply);
    reply.header('idempotent-replayed', 'true');
  }
  return outcome.reply;
}

/**
 * Returns the hook that runs before the body is read. The hook is synchronous if the token is cached and the
 * rate limits are in memory.
 */
function admit(ctx: Context, route: Route) {
  const common = {
    ...ctx.securityHeaders,
    'cache-control': CACHE_CONTROL[route.cache ?? 'none'],
    vary: VARY,
  };
  return (request: FastifyRequest, reply: FastifyReply, done: Next): void => {
    reply.headers(common).header('x-request-id', request.id);
    let pending: undefined | Promise<void>;
    try {
      if (route.access.who !== 'public') pending = admitCaller(ctx, route, route.access, request, reply);
    } catch (error) {
      done(error as Error);
      return;
    }
    if (pending === undefined) done();
    else pending.then(() => done(), done);
  };
}

type Guarded = Exclude<Access, { who: 'public' }>;

/** Authenticates, then applies rate limits, then authorizes. */
function admitCaller(
  ctx: Context,
  route: Route,
  access: Guarded,
  request: FastifyRequest,
  reply: FastifyReply,
): undefined | Promise<void> {
  const { failedAuthentication, guard } = ctx;
  const token = bearerToken(request.headers.authorization);
  if (failedAuthentication.refusesAny() && !guard.isCached(token))
    failedAuthentication.assertMayTry(clientNetwork(request));
  const caller = guard.check(token, request);
  if (caller instanceof Promise)
    return caller.then((found) => {
      if (found === null) failedAuthentication.count(clientNetwork(request));
      return limitCaller(ctx, route, access, found, request, reply);
    });
  return limitCaller(ctx, route, access, caller, request, reply);
}

function limitCaller(
  ctx: Context,
  route: Route,
  access: Guarded,
  caller: Caller | null,
  request: FastifyRequest,
  reply: FastifyReply,
): undefined | Promise<void> {
  if (caller === null) throw unauthorized('invalid_token');
  request.caller = caller;
  if (request.headers.origin !== undefined) setCorsHeaders(ctx, caller, request, reply);
  const taken = takeLimits(ctx, caller, route);
  if (taken instanceof Promise)
    return taken.then((counted) => {
      authorizeCaller(access, caller, counted, reply);
      return assertMayWrite(ctx, route, caller, request);
    });
  authorizeCaller(access, caller, taken, reply);
  return assertMayWrite(ctx, route, caller, request);
}

/**
 * Throws if the request writes and its user may not write. For a keyed request, `runOnce` checks this. If such
 * a request fails before that, the error handler checks it.
 */
function assertMayWrite(
  ctx: Context,
  route: Route,
  { userId, partnerId }: Caller,
  request: FastifyRequest,
): undefined | Promise<void> {
  if (route.method === 'GET' || userId === null) return undefined;
  if (!isKeyed(route, request)) return ctx.forPartner(partnerId).assertMayWrite(userId);
  request.isHoldUnchecked = true;
  return undefined;
}

function authorizeCaller({ who, scope }: Guarded, caller: Caller, taken: Taken, reply: FastifyReply): void {
  setLimitHeaders(reply, taken);
  if (!taken.allowed)
    throw new ApiError('rate_limited', {}, { headers: { 'retry-after': String(taken.resetSeconds) } });
  authorize(caller, who, scope);
}

/**
 * Counts the request against the caller's general limit and the route's own limit. Returns the state of the route's
 * limit. If the general limit is exceeded or the route has no limit, returns the state of the general limit instead.
 */
function takeLimits({ limiter, config }: Context, { key }: Caller, { limit }: Route): Taken | Promise<Taken> {
  const general = limiter.take(key, config.limits.api);
  if (limit === undefined) return general;
  const ofRoute = limiter.take(`${limit} ${key}`, config.limits[limit]);
  if (!(general instanceof Promise) && !(ofRoute instanceof Promise))
    return general.allowed ? ofRoute : general;
  return Promise.all([ofRoute, general]).then(([route, all]) => (all.allowed ? route : all));
}

/**
 * Returns the hook that runs just before a reply is sent. The hook sets the ETag. It also logs and measures the
 * request, so that no socket listeners are needed.
 */
function finish(ctx: Context, route: Route) {
  const record = requestRecorder(ctx, route.method, route.path);
  const hasEtag = route.cache === 'etag';
  const tagOf = etagCache();
  return (
    request: FastifyRequest,
    reply: FastifyReply,
    payload: unknown,
    done: (error: Error | null, payload?: unknown) => void,
  ): void => {
    let sent = payload;
    if (hasEtag && reply.statusCode === 200 && typeof payload === 'string') {
      sent = answerEtag(request, reply, payload, tagOf(request.caller?.clientId ?? '', payload));
    }
    record(request, reply.statusCode);
    done(null, sent);
  };
}

/**
 * Caches the last reply of each client with its ETag: partners often request lists that rarely change, and comparing
 * two replies is cheaper than hashing one.
 */
function etagCache() {
  const last = new Map<string, { payload: string; etag: string }>();
  return (clientId: string, payload: string): string => {
    const known = last.get(clientId);
    if (known?.payload === payload) return known.etag;
    const etag = etagOf(payload);
    if (last.size >= MAX_CACHED_ETAGS) last.clear();
    last.set(clientId, { payload, etag });
    return etag;
  };
}

function answerEtag(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: string,
  etag: string,
): string | null {
  reply.header('etag', etag);
  const ifNoneMatch = request.headers['if-none-match'];
  if (ifNoneMatch === undefined || !matchesEtag(ifNoneMatch, etag)) return payload;
  reply.code(304).removeHeader('content-type');
  // Fastify computes the content length of a HEAD reply, and fails if the payload is null.
  return request.method === 'HEAD' ? '' : null;
}
