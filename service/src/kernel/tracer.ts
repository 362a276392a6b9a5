import { AsyncLocalStorage } from 'node:async_hooks';
import type { Random } from './ids.ts';

/** A span as OpenTelemetry defines it. Times are in milliseconds since the epoch. */
export type Span = {
  traceId: string;
  id: string;
  parentId: string | null;
  kind: 'server' | 'client';
  name: string;
  attributes: Attributes;
  startedAt: number;
  endedAt: number;
  isFailed: boolean;
};

/**
 * Must not contain parameter values, user ids, paths or query texts: these may contain personal data or secrets, and
 * everything in a span leaves the node.
 */
export type Attributes = Record<string, string | number>;

export type Tracer = {
  /** Starts the span of a request, or returns null if the request is not sampled. */
  start(name: string, traceparent: string | undefined): Span | null;
  /** Runs `work` so that its calls to other systems become children of the span. */
  within<T>(span: Span, work: () => T): T;
  /** Ends the span of a request. */
  end(span: Span): void;
};

/**
 * The traced request on whose behalf the current code runs. It is in async local storage, because the code that calls
 * other systems does not receive the request.
 */
const traced = new AsyncLocalStorage<{ measure: typeof measureCall }>();

/** Runs a call to another system. Measures the call if it is part of a traced request. */
export function measureCall<T>(
  describe: () => { name: string; attributes: Attributes },
  run: () => Promise<T>,
): Promise<T> {
  const request = traced.getStore();
  return request === undefined ? run() : request.measure(describe, run);
}

/** A version 00 header of W3C Trace Context. */
const TRACEPARENT = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]{2}$/;

/**
 * Creates spans for a sample of requests and for their calls to other systems. A caller may set the trace that a
 * request belongs to, but cannot force the request to be sampled. Otherwise, anyone could make the node export
 * everything.
 */
export function createTracer(
  { ratio, random }: { ratio: number; random: Random },
  onEnd: (span: Span) => void,
): Tracer {
  let running = 0;
  const newId = (bytes: number) => random(bytes).toString('hex');
  const startSpan = (of: Pick<Span, 'traceId' | 'parentId' | 'kind' | 'name' | 'attributes'>): Span => ({
    ...{ ...of, id: newId(8), startedAt: now(), endedAt: 0, isFailed: false },
  });
  const endSpan = (span: Span) => {
    span.endedAt = now();
    onEnd(span);
  };
  return {
    start: (name, traceparent) => {
      if (Math.random() >= ratio) return null;
      running++;
      const [, traceId = newId(16), parentId = null] = TRACEPARENT.exec(traceparent ?? '') ?? [];
      return startSpan({ traceId, parentId, kind: 'server', name, attributes: {} });
    },
    within: ({ traceId, id: parentId }, work) => {
      const measure: typeof measureCall = async (describe, run) => {
        const span = startSpan({ traceId, parentId, kind: 'client', ...describe() });
        try {
          return await run();
        } catch (error) {
          span.isFailed = true;
          throw error;
        } finally {
          endSpan(span);
        }
      };
      return traced.run({ measure }, work);
    },
    end: (span) => {
      endSpan(span);
      // Disables async local storage once no request is being traced, because Node 20 copies the storage into every
      // promise of every request.
      if (--running === 0) traced.disable();
    },
  };
}

function now(): number {
  return performance.timeOrigin + performance.now();
}
