import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Span, Tracer } from '../../kernel/tracer.ts';

declare module 'fastify' {
  interface FastifyRequest {
    span: Span | null;
  }
}

/**
 * Traces the application's requests. Spans are sent to another system, so they contain the route instead of the path,
 * and they do not identify the caller.
 */
export function traceRequests(app: FastifyInstance, tracer: Tracer): void {
  app.decorateRequest('span', null);
  app.addHook('onRequest', (request, reply, done) => {
    const route = request.routeOptions.url ?? '-';
    request.span = tracer.start(`${request.method} ${route}`, traceparentOf(request));
    if (request.span !== null) endWithReply(tracer, request.span, request, reply);
    enter(request, done);
  });
  // Enters the trace context again, because the context that the first hook entered is lost when the body is read.
  app.addHook('preHandler', (request, _reply, done) => enter(request, done));
  const enter = ({ span }: FastifyRequest, done: () => void) =>
    span === null ? done() : tracer.within(span, done);
}

function traceparentOf({ headers: { traceparent } }: FastifyRequest): string | undefined {
  return typeof traceparent === 'string' ? traceparent : undefined;
}

/**
 * Ends the span when the response finishes or closes. Does not use a Fastify hook, because oidc-provider writes its
 * replies without Fastify, and a client may hang up before the reply.
 */
function endWithReply(
  tracer: Tracer,
  span: Span,
  request: FastifyRequest,
  { raw: response }: FastifyReply,
): void {
  const { method, routeOptions, id } = request;
  let isEnded = false;
  const end = () => {
    if (isEnded) return;
    isEnded = true;
    const { errorCode } = request;
    Object.assign(span.attributes, {
      ...{ 'http.request.method': method, 'http.route': routeOptions.url ?? '-' },
      ...{ 'http.response.status_code': response.statusCode, 'causeway.request_id': id },
      ...(errorCode !== null && { 'error.type': errorCode }),
    });
    span.isFailed = response.statusCode >= 500;
    tracer.end(span);
  };
  response.once('finish', end).once('close', end);
}
