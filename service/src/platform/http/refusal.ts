import { randomUUID } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { ApiError } from '../../kernel/errors.ts';
import type { Context } from '../context/context.ts';
import { failureBody, oauthMembers } from './failure.ts';
import { rawHeader } from './raw-header.ts';
import { EXPOSED_HEADERS, VARY } from './replies.ts';
import { requestRecorder } from './request-log.ts';
import type { WholeRequest } from './whole-request.ts';

export type Refusal = {
  /** Refuses a parsed request. */
  respond: RequestListener;
  /**
   * Returns the complete HTTP reply that refuses a request which Node has not parsed. The reply keeps the connection
   * open.
   */
  write(request: WholeRequest): string;
};

const REQUEST_ID = /^[A-Za-z0-9._:-]{1,128}$/;

/** Returns the caller's request id if that id is safe to log, otherwise a new id. */
export function chooseRequestId(sent: string | undefined): string {
  return sent !== undefined && REQUEST_ID.test(sent) ? sent : randomUUID();
}

/**
 * Prepares the replies with which a saturated node refuses requests. These replies have the same error object, headers
 * and log line as other errors. Their constant parts are serialized only once, because a refusal must cost far less
 * than a normal reply.
 */
export function prepareRefusal(ctx: Context, keepAliveTimeoutMs: number): Refusal {
  const record = requestRecorder(ctx, '-', '-');
  const error = new ApiError('unavailable');
  const headers = Object.entries({
    ...ctx.securityHeaders,
    'content-type': 'application/json; charset=utf-8',
    'retry-after': '1',
    'cache-control': 'no-store',
    vary: VARY,
  });
  /** Returns the serialized body in two parts, before and after the request id. */
  const textAround = (members: object) => {
    const marker = '-id-';
    return JSON.stringify({ ...members, ...failureBody(error, marker) }).split(marker);
  };
  const plain = textAround({});
  const oauth = textAround(oauthMembers(error));
  const bodyOf = (url: string | undefined, id: string): string => {
    const [before = '', after = ''] = url?.startsWith('/oauth/') === true ? oauth : plain;
    return before + id + after;
  };
  const corsHeaders = (origin: string | undefined): [string, string][] =>
    origin !== undefined && ctx.guard.knowsOrigin(origin)
      ? [
          ['access-control-allow-origin', origin],
          ['access-control-expose-headers', EXPOSED_HEADERS],
        ]
      : [];
  const count = (id: string, startedAt: number) => {
    ctx.overload.countShed();
    record({ id, caller: null, startedAt, errorCode: error.code }, error.status);
  };
  const flatHeaders = headers.flat();
  const start = `HTTP/1.1 ${error.status} Service Unavailable\r\n${linesOf([
    ...headers,
    ['connection', 'keep-alive'],
    ['keep-alive', `timeout=${Math.floor(keepAliveTimeoutMs / 1000)}`],
  ])}`;
  return {
    respond: (request, response) => {
      const id = chooseRequestId(rawHeader(request, 'x-request-id'));
      const body = bodyOf(request.url, id);
      response.writeHead(error.status, [
        ...flatHeaders,
        ...['x-request-id', id, 'content-length', String(body.length)],
        ...corsHeaders(rawHeader(request, 'origin')).flat(),
      ]);
      response.end(body);
      count(id, request.arrivedAt ?? performance.now());
    },
    write: ({ url, headers: sent }) => {
      const id = chooseRequestId(sent.get('x-request-id'));
      const body = bodyOf(url, id);
      const cors = linesOf(corsHeaders(sent.get('origin')));
      count(id, performance.now());
      return `${start}x-request-id: ${id}\r\ncontent-length: ${body.length}\r\n${cors}\r\n${body}`;
    },
  };
}

function linesOf(headers: [string, string][]): string {
  return headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
}
