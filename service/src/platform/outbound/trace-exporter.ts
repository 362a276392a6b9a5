import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Registry } from 'prom-client';
import type { TraceSettings } from '../../kernel/config/provider-settings.ts';
import type { Log } from '../../kernel/log.ts';
import type { Span } from '../../kernel/tracer.ts';
import { VERSION } from '../../kernel/version.ts';
import { openUpstream } from './upstream.ts';

export type TraceExporter = { add(span: Span): void; close(): Promise<void> };

const INTERVAL_MS = 2_000;
/**
 * Maximum number of spans waiting for the collector. Further spans are dropped, so that traces do not use up the node's
 * memory.
 */
const MAX_WAITING = 4_096;
const TIMEOUT_MS = 5_000;
/** How long shutdown waits for the collector. */
const LAST_FLUSH_MS = 500;
const KINDS = { server: 2, client: 3 };
const FAILED = { code: 2 };

/** Sends spans to a collector every two seconds, as OTLP in JSON. If a request fails, its spans are lost. */
export function openTraceExporter(settings: TraceSettings, log: Log, registry: Registry): TraceExporter {
  const collector = openUpstream({ name: 'traces', url: settings.url, timeoutMs: TIMEOUT_MS, registry });
  let waiting: Span[] = [];
  let isClosed = false;
  let sending: Promise<void> | null = null;
  const send = async () => {
    if (waiting.length === 0 || isClosed) return;
    const body = JSON.stringify(toOtlp(waiting));
    waiting = [];
    const headers = () => settings.headers;
    const { status } = await collector.request({ method: 'POST', path: '/v1/traces', headers, body });
    if (status >= 400) throw new Error(`the collector answered ${status}`);
  };
  // Until the collector has answered the previous request, spans wait and no further request is made.
  const flush = () => {
    sending ??= send()
      .catch((err: unknown) => log.warn({ err }, 'exporting traces failed'))
      .finally(() => {
        sending = null;
      });
    return sending;
  };
  const timer = setInterval(() => void flush(), INTERVAL_MS);
  timer.unref();
  return {
    add: (span) => {
      if (waiting.length < MAX_WAITING) waiting.push(span);
    },
    close: async () => {
      clearInterval(timer);
      const lastFlush = (sending ?? Promise.resolve()).then(flush);
      await Promise.race([lastFlush, sleep(LAST_FLUSH_MS, undefined, { ref: false })]);
      isClosed = true;
      await collector.close();
    },
  };
}

function toOtlp(spans: readonly Span[]) {
  const resource = {
    ...{ 'service.name': 'causeway', 'service.version': VERSION },
    'service.instance.id': `${hostname()}-${process.pid}`,
  };
  return {
    resourceSpans: [
      {
        resource: { attributes: toAttributes(resource) },
        scopeSpans: [{ scope: { name: 'causeway', version: VERSION }, spans: spans.map(toOtlpSpan) }],
      },
    ],
  };
}

function toOtlpSpan({ traceId, id, parentId, kind, name, attributes, startedAt, endedAt, isFailed }: Span) {
  return {
    ...{ traceId, spanId: id, ...(parentId !== null && { parentSpanId: parentId }) },
    ...{ name, kind: KINDS[kind], attributes: toAttributes(attributes) },
    ...{ startTimeUnixNano: toNanoseconds(startedAt), endTimeUnixNano: toNanoseconds(endedAt) },
    ...(isFailed && { status: FAILED }),
  };
}

function toAttributes(attributes: Record<string, string | number>) {
  return Object.entries(attributes).map(([key, value]) => ({
    key,
    value: typeof value === 'number' ? { intValue: String(value) } : { stringValue: value },
  }));
}

function toNanoseconds(milliseconds: number): string {
  return String(BigInt(Math.round(milliseconds * 1000)) * 1000n);
}
