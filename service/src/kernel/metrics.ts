import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client';

const BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export type Metrics = {
  registry: Registry;
  /** Counts password hash comparisons, including those against a dummy hash for unknown accounts. */
  passwordChecks: Counter;
  /** Counts requests that a rate limit refused. */
  rateLimited: Counter<'limit'>;
  /**
   * Counts webhook delivery attempts. `outcome` is the status class of the response, or the reason why there was no
   * response.
   */
  webhookAttempts: Counter<'outcome'>;
  /** Counts appended events by type, for example `participation.completed`. */
  events: Counter<'type'>;
  /** The durations of requests in seconds. `status` is the status class, such as `2xx`. */
  requestDuration: Histogram<'method' | 'route' | 'status'>;
};

export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix: 'causeway_' });
  const passwordChecks = new Counter({
    name: 'causeway_password_checks_total',
    help: 'Password hash comparisons.',
    registers: [registry],
  });
  const rateLimited = new Counter({
    name: 'causeway_rate_limited_total',
    help: 'Requests that a rate limit refused.',
    labelNames: ['limit'],
    registers: [registry],
  });
  const webhookAttempts = new Counter({
    name: 'causeway_webhook_attempts_total',
    help: 'Attempts to deliver a webhook, by outcome.',
    labelNames: ['outcome'],
    registers: [registry],
  });
  const events = new Counter({
    name: 'causeway_events_total',
    help: 'Events that this node added to the event log, by type (such as participation.completed). Also counts events whose transaction was rolled back.',
    labelNames: ['type'],
    registers: [registry],
  });
  const requestDuration = new Histogram({
    name: 'causeway_http_request_duration_seconds',
    help: 'HTTP request duration by route.',
    labelNames: ['method', 'route', 'status'],
    buckets: BUCKETS_SECONDS,
    registers: [registry],
  });
  return { registry, passwordChecks, rateLimited, webhookAttempts, events, requestDuration };
}
