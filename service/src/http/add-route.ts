import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../context.ts';
import { ApiError } from '../errors.ts';
import { authorize, bearerToken, type Caller, unauthorized } from './access.ts';
import { readIdempotencyKey, runOnce } from './idempotency.ts';
import type { Taken } from './limits.ts';
import { type Query, refuseMalformed } from './query-string.ts';
import { CACHE_CONTROL, etagOf, matchesEtag, setCorsHeaders, setLimitHeaders } from './replies.ts';
import { requestRecorder } from './request-log.ts';
import type { Access, Route } from './route.ts';
import { bodyCheck } from './validation.ts';

const RAW_BODY_LIMIT = 1_048_576;
const NO_BYTES = Buffer.alloc(0);

type Next = (error?: Error) => void;

/**
 * Registers a declared route with everything that surrounds its handler. This is the hot path: hooks are
 * synchronous wherever they can be, and make no closures per request.
 */
export function addRoute(app: FastifyInstance, ctx: Context, route: Route): void {
  const { method, path, access, forms, rawBody } = route;
  const checkBody = route.body === undefined ? undefined : bodyCheck(route.body);
  const show = route.cache === 'etag' || route.keepsText ? textMemory() : undefined;
  app.route({
    method,
    url: path,
    config: { access, ...(forms && { forms }), ...(rawBody && { rawBody }) },
    ...(rawBody && { bodyLimit: RAW_BODY_LIMIT }),
    schema: {
      ...(route.params && { params: route.params }),
      ...(route.query && { querystring: route.query }),
      ...(route.plainReply !== true && { response: { 200: route.reply } }),
    },
    onRequest: admit(ctx, route),
    onSend: finish(ctx, route),
    handler: (request, reply) => {
      const { caller } = request;
      const body = request.body ?? (rawBody ? NO_BYTES : {});
      checkBody?.(body, request.isForm);
      const input = { params: request.params, query: request.query, body, request };
      if (method === 'POST' && caller !== null && request.headers['idempotency-key'] !== undefined) {
        return ctx.deadlines.watch(handleOnce(ctx, route, caller, input, reply));
      }
      const result = route.handle(ctx, caller, input);
      if (result instanceof Promise) return ctx.deadlines.watch(result);
      return show === undefined ? result : show(result as Record<string, unknown>, reply);
    },
  });
}

/** A handler that answers at once answers from memory: the same object, so the same text as the last time. */
function textMemory() {
  const texts = new WeakMap<object, string>();
  return (result: Record<string, unknown>, reply: FastifyReply): string => {
    const known = texts.get(result);
    const text = known ?? String(reply.serializeInput(result, '200'));
    if (known === undefined) texts.set(result, text);
    reply.type('application/json; charset=utf-8');
    return text;
  };
}

type Input = { body: unknown; request: FastifyRequest };

async function handleOnce(
  ctx: Context,
  route: Route,
  caller: Caller,
  input: Input,
  reply: FastifyReply,
): Promise<unknown> {
  const { request, body } = input;
  const key = readIdempotencyKey(request.headers['idempotency-key']);
  const path = request.url.split('?', 1)[0] ?? '';
  const outcome = await runOnce(ctx, caller, { method: route.method, path, key, body }, async (own) =>
    route.handle(own, caller, input),
  );
  if (outcome.replayed) reply.header('idempotent-replayed', 'true');
  return outcome.reply;
}

/** Runs before anything is read from the body; asks nobody when the token is known and the counters are ours. */
function admit(ctx: Context, route: Route) {
  const vary = route.cache === 'etag' ? { vary: 'Authorization, Origin' } : {};
  const common = { ...ctx.securityHeaders, 'cache-control': CACHE_CONTROL[route.cache ?? 'none'], ...vary };
  return (request: FastifyRequest, reply: FastifyReply, done: Next): void => {
    request.startedAt = performance.now();
    reply.headers(common).header('x-request-id', request.id);
    let pending: undefined | Promise<void>;
    try {
      refuseMalformed(request.raw.url ?? '', request.query as Query);
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

/** Who is it, how much has it asked, may it ask this: in that order. */
function admitCaller(
  ctx: Context,
  route: Route,
  access: Guarded,
  request: FastifyRequest,
  reply: FastifyReply,
): undefined | Promise<void> {
  const caller = ctx.guard.check(bearerToken(request.headers.authorization));
  if (caller instanceof Promise)
    return caller.then((found) => enter(ctx, route, access, found, request, reply));
  return enter(ctx, route, access, caller, request, reply);
}

function enter(
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
  const taken = takeBudgets(ctx, caller, route);
  if (taken instanceof Promise) return taken.then((counted) => allow(access, caller, counted, reply));
  allow(access, caller, taken, reply);
  return undefined;
}

function allow({ who, scope }: Guarded, caller: Caller, taken: Taken, reply: FastifyReply): void {
  setLimitHeaders(reply, taken);
  if (!taken.allowed)
    throw new ApiError('rate_limited', {}, { headers: { 'retry-after': String(taken.resetSeconds) } });
  authorize(caller, who, scope);
}

/** The caller's general budget and, where the route has one, its own; the one that refuses is told, else the route's. */
function takeBudgets(
  { limiter, config }: Context,
  { key }: Caller,
  { limit }: Route,
): Taken | Promise<Taken> {
  const general = limiter.take(key, config.limits.api);
  if (limit === undefined) return general;
  const own = limiter.take(`${limit} ${key}`, config.limits[limit]);
  if (!(general instanceof Promise) && !(own instanceof Promise)) return general.allowed ? own : general;
  return Promise.all([own, general]).then(([ours, all]) => (all.allowed ? ours : all));
}

/** The validator, the log line and the duration; at the moment of sending, which needs no listeners on the socket. */
function finish(ctx: Context, route: Route) {
  const record = requestRecorder(ctx, route.method, route.path);
  const hasEtag = route.cache === 'etag';
  const tagOf = etagMemory();
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

/** Partners poll lists that seldom change, so the last reply of each is kept beside its tag: comparing is cheaper than hashing. */
function etagMemory() {
  const last = new Map<string, { payload: string; etag: string }>();
  return (clientId: string, payload: string): string => {
    const known = last.get(clientId);
    if (known?.payload === payload) return known.etag;
    const etag = etagOf(payload);
    if (last.size >= 1000) last.clear();
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
  const wanted = request.headers['if-none-match'];
  if (wanted === undefined || !matchesEtag(wanted, etag)) return payload;
  reply.code(304).removeHeader('content-type');
  // The framework measures what a HEAD would have sent, and cannot measure nothing.
  return request.method === 'HEAD' ? '' : null;
}
