import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../context.ts';
import { ApiError } from '../errors.ts';
import { authorize, bearerToken, type Caller, unauthorized } from './access.ts';
import { readIdempotencyKey, runOnce } from './idempotency.ts';
import type { Taken } from './limits.ts';
import { CACHE_CONTROL, etagOf, matchesEtag, SECURITY_HEADERS, setCorsHeaders, setLimitHeaders } from './replies.ts';
import type { Route } from './route.ts';

type Next = (error?: Error) => void;

/** Registers a declared route with everything that surrounds its handler. The hooks are synchronous wherever they can be. */
export function addRoute(app: FastifyInstance, ctx: Context, route: Route): void {
  const { method, path, access, forms } = route;
  const body = route.body === undefined ? undefined : bodySchema(route);
  app.route({
    method,
    url: path,
    config: { access, ...(forms && { forms }) },
    schema: {
      ...(route.params && { params: route.params }),
      ...(route.query && { querystring: route.query }),
      ...(body && { body }),
      response: { 200: route.reply },
    },
    onRequest: admit(ctx, route),
    ...(route.cache === 'etag' && { onSend: answerEtag }),
    onResponse: recordRequest(ctx, route),
    handler: async (request, reply) => {
      const { caller } = request;
      const input = { params: request.params, query: request.query, body: request.body, request };
      if (method !== 'POST' || caller === null) return route.handle(ctx, caller, input);
      const key = readIdempotencyKey(request.headers['idempotency-key']);
      if (key === undefined) return route.handle(ctx, caller, input);
      const once = { method, path: request.url.split('?', 1)[0] ?? '', key, body: request.body };
      const outcome = await runOnce(ctx, caller, once, async (own) => route.handle(own, caller, input));
      if (outcome.replayed) reply.header('idempotent-replayed', 'true');
      return outcome.reply;
    },
  });
}

function bodySchema({ body, forms }: Route) {
  const content = { 'application/json': { schema: body } };
  return { content: forms ? { ...content, 'application/x-www-form-urlencoded': { schema: body } } : content };
}

/** Runs before anything is read from the body; asks nobody when the token is known and the counters are ours. */
function admit(ctx: Context, route: Route) {
  const vary = route.cache === 'etag' ? { vary: 'Authorization, Origin' } : {};
  const common = { ...SECURITY_HEADERS, 'cache-control': CACHE_CONTROL[route.cache ?? 'none'], ...vary };
  return (request: FastifyRequest, reply: FastifyReply, done: Next): void => {
    reply.headers(common).header('x-request-id', request.id);
    let pending: void | Promise<void>;
    try {
      pending = admitCaller(ctx, route, request, reply);
    } catch (error) {
      return done(error as Error);
    }
    if (pending === undefined) done();
    else pending.then(() => done(), done);
  };
}

/** Who is it, how much has it asked, may it ask this: in that order. */
function admitCaller(ctx: Context, route: Route, request: FastifyRequest, reply: FastifyReply): void | Promise<void> {
  const { access } = route;
  if (access.who === 'public') return;
  const enter = (caller: Caller | null): void | Promise<void> => {
    if (caller === null) throw unauthorized('invalid_token');
    request.caller = caller;
    if (request.headers.origin !== undefined) setCorsHeaders(ctx, caller, request, reply);
    const taken = takeBudgets(ctx, caller, route);
    return taken instanceof Promise ? taken.then((all) => allow(caller, all)) : allow(caller, taken);
  };
  const allow = (caller: Caller, taken: Taken): void => {
    setLimitHeaders(reply, taken);
    if (!taken.allowed) throw new ApiError('rate_limited', {}, { headers: { 'retry-after': String(taken.resetSeconds) } });
    authorize(caller, access.who, access.scope);
  };
  const caller = ctx.guard.check(bearerToken(request.headers.authorization));
  return caller instanceof Promise ? caller.then(enter) : enter(caller);
}

/** The caller's general budget and, where the route has one, its own; the tighter of the two is told. */
function takeBudgets({ limiter, config }: Context, { clientId, userId }: Caller, { limit }: Route): Taken | Promise<Taken> {
  const who = userId === null ? clientId : `${clientId} ${userId}`;
  const general = limiter.take(who, config.limits.api);
  if (limit === undefined) return general;
  const own = limiter.take(`${limit} ${who}`, config.limits[limit]);
  if (!(general instanceof Promise) && !(own instanceof Promise)) return tighter(own, general);
  return Promise.all([own, general]).then(([a, b]) => tighter(a, b));
}

function tighter(own: Taken, general: Taken): Taken {
  return general.allowed ? own : general;
}

function answerEtag(request: FastifyRequest, reply: FastifyReply, payload: unknown, done: (error: Error | null, payload?: unknown) => void): void {
  if (reply.statusCode !== 200 || typeof payload !== 'string') return done(null, payload);
  const etag = etagOf(payload);
  reply.header('etag', etag);
  if (!matchesEtag(request.headers['if-none-match'], etag)) return done(null, payload);
  reply.code(304).removeHeader('content-type');
  done(null, null);
}

/** Names no path, only the route: ids of a URL can be secrets of somebody. */
export function recordRequest(ctx: Context, { method, path, operationId }: Pick<Route, 'method' | 'path' | 'operationId'>) {
  const times = ctx.metrics.route(method, path);
  return (request: FastifyRequest, reply: FastifyReply, done: Next): void => {
    const { statusCode, elapsedTime } = reply;
    times.observe(statusCode, elapsedTime);
    const { caller } = request;
    ctx.log.request(
      `{"level":30,"time":"${new Date().toISOString()}","msg":"request","request_id":"${request.id}","method":"${method}","route":"${path}","operation":"${operationId}","status":${statusCode},"ms":${elapsedTime.toFixed(1)}${
        caller === null ? '' : `,"client_id":"${caller.clientId}"${caller.userId === null ? '' : `,"user_id":"${caller.userId}"`}`
      }}`,
    );
    done();
  };
}
