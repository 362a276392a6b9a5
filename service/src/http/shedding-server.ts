import { randomUUID } from 'node:crypto';
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
} from 'node:http';
import type { Context } from '../context.ts';
import { ApiError } from '../errors.ts';
import { createAdmission } from './admission.ts';
import { failureBody, oauthMembers } from './failure.ts';
import { EXPOSED_HEADERS, VARY } from './replies.ts';
import { requestRecorder } from './request-log.ts';

declare module 'node:http' {
  interface IncomingMessage {
    /** When the node read the request, on the clock of `performance.now()`. */
    arrivedAt?: number;
  }
}

const REQUEST_ID = /^[A-Za-z0-9._:-]{1,128}$/;

/**
 * Creates an HTTP server that refuses requests while the node is saturated, before any other code sees them: refusing
 * must cost far less than answering. Health probes are always answered, because a busy node that looks dead would be
 * restarted.
 */
export function createSheddingServer(ctx: Context, options: ServerOptions, handle: RequestListener): Server {
  const { config, guard, overload } = ctx;
  const refuse = refusal(ctx);
  const { admit, noticeConnection } = createAdmission({
    maxWaitMs: config.maxEventLoopLagMs,
    laneOf: (request) =>
      guard.partnerOf(rawHeader(request, 'authorization')?.slice('Bearer '.length) ?? '') ?? null,
    mayStart: overload.mayStart,
    start: handle,
    refuse,
  });
  return createServer(options, (request, response) => {
    request.arrivedAt = performance.now();
    if (request.url?.startsWith('/health') === true) handle(request, response);
    else if (overload.isSaturated()) refuse(request, response);
    else admit(request, response);
  }).on('connection', noticeConnection);
}

/** Returns the caller's request id if it is safe to log, otherwise a new one. */
export function chooseRequestId(request: IncomingMessage): string {
  const sent = rawHeader(request, 'x-request-id');
  return sent !== undefined && REQUEST_ID.test(sent) ? sent : randomUUID();
}

/**
 * Returns one header. Does not read `headers`, because Node parses all headers when `headers` is first read.
 */
function rawHeader({ rawHeaders }: IncomingMessage, name: string): string | undefined {
  for (let i = 0; i < rawHeaders.length; i += 2)
    if (rawHeaders[i]?.length === name.length && rawHeaders[i]?.toLowerCase() === name)
      return rawHeaders[i + 1];
  return undefined;
}

/**
 * Returns a listener that refuses a request with the same error object, headers and log line as any other
 * failure.
 */
function refusal(ctx: Context): RequestListener {
  const record = requestRecorder(ctx, '-', '-');
  const error = new ApiError('unavailable');
  const headers = Object.entries({
    ...ctx.securityHeaders,
    'content-type': 'application/json; charset=utf-8',
    'retry-after': '1',
    'cache-control': 'no-store',
    vary: VARY,
  }).flat();
  /**
   * Returns the serialized body in two parts, before and after the request id, so that each refusal only
   * inserts its id.
   */
  const textAround = (members: object) => {
    const marker = '-id-';
    return JSON.stringify({ ...members, ...failureBody(error, marker) }).split(marker);
  };
  const plain = textAround({});
  const oauth = textAround(oauthMembers(error));
  return (request, response) => {
    ctx.overload.countShed();
    const id = chooseRequestId(request);
    const [before = '', after = ''] = request.url?.startsWith('/oauth/') === true ? oauth : plain;
    const body = before + id + after;
    const origin = rawHeader(request, 'origin');
    const isKnown = origin !== undefined && ctx.guard.knowsOrigin(origin);
    response.writeHead(error.status, [
      ...headers,
      ...['x-request-id', id, 'content-length', String(body.length)],
      ...(isKnown
        ? ['access-control-allow-origin', origin, 'access-control-expose-headers', EXPOSED_HEADERS]
        : []),
    ]);
    response.end(body);
    const startedAt = request.arrivedAt ?? performance.now();
    record({ id, caller: null, startedAt, errorCode: error.code }, error.status);
  };
}
