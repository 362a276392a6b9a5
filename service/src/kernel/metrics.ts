import { Counter, collectDefaultMetrics, Registry } from 'prom-client';

/** Upper bounds of the histogram buckets. */
const BUCKETS_MS = [1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10000];

/**
 * Measures the request durations of one route, by status class. `observe` runs for every request, so it only updates
 * plain numbers.
 */
export type RouteTimes = { observe(status: number, milliseconds: number): void };

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
  route(method: string, path: string): RouteTimes;
  render(): Promise<string>;
};

type Series = { labels: string; counts: number[]; sum: number; count: number };

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
  const series: Series[] = [];

  const route = (method: string, path: string): RouteTimes => {
    const classes: (Series | undefined)[] = [];
    return {
      observe: (status, milliseconds) => {
        const statusClass = Math.floor(status / 100);
        let entry = classes[statusClass];
        if (entry === undefined) {
          entry = {
            labels: `method="${method}",route="${path}",status="${statusClass}xx"`,
            counts: BUCKETS_MS.map(() => 0),
            sum: 0,
            count: 0,
          };
          classes[statusClass] = entry;
          series.push(entry);
        }
        entry.count++;
        entry.sum += milliseconds;
        const bucket = BUCKETS_MS.findIndex((bound) => milliseconds <= bound);
        if (bucket >= 0) entry.counts[bucket] = (entry.counts[bucket] ?? 0) + 1;
      },
    };
  };
  return {
    registry,
    passwordChecks,
    rateLimited,
    webhookAttempts,
    events,
    route,
    render: async () => `${renderSeries(series)}${await registry.metrics()}`,
  };
}

function renderSeries(series: Series[]): string {
  const name = 'causeway_http_request_duration_seconds';
  const lines = [`# HELP ${name} HTTP request duration by route.`, `# TYPE ${name} histogram`];
  for (const { labels, counts, sum, count } of series) {
    let cumulative = 0;
    for (const [i, bound] of BUCKETS_MS.entries()) {
      cumulative += counts[i] ?? 0;
      lines.push(`${name}_bucket{${labels},le="${bound / 1000}"} ${cumulative}`);
    }
    lines.push(`${name}_bucket{${labels},le="+Inf"} ${count}`);
    lines.push(`${name}_sum{${labels}} ${sum / 1000}`, `${name}_count{${labels}} ${count}`);
  }
  return `${lines.join('\n')}\n`;
}
