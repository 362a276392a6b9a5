import { Counter, collectDefaultMetrics, Registry } from 'prom-client';

/** Upper bounds in milliseconds. */
const BOUNDS = [1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10000];

/** One route's durations, by status class: plain arrays, because this runs for every request. */
export type RouteTimes = { observe(status: number, milliseconds: number): void };

export type Metrics = {
  registry: Registry;
  /** Passwords compared with a hash, made-up hashes included. */
  passwordChecks: Counter;
  route(method: string, path: string): RouteTimes;
  render(): Promise<string>;
};

type Series = { labels: string; counts: number[]; sum: number; count: number };

export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix: 'causeway_' });
  const passwordChecks = new Counter({
    name: 'causeway_password_checks_total',
    help: 'Passwords compared with a hash.',
    registers: [registry],
  });
  const series: Series[] = [];

  const route = (method: string, path: string): RouteTimes => {
    const classes: (Series | undefined)[] = [];
    return {
      observe: (status, milliseconds) => {
        const kind = Math.floor(status / 100);
        let one = classes[kind];
        if (one === undefined) {
          one = {
            labels: `method="${method}",route="${path}",status="${kind}xx"`,
            counts: BOUNDS.map(() => 0),
            sum: 0,
            count: 0,
          };
          classes[kind] = one;
          series.push(one);
        }
        one.count++;
        one.sum += milliseconds;
        const bucket = BOUNDS.findIndex((bound) => milliseconds <= bound);
        if (bucket >= 0) one.counts[bucket] = (one.counts[bucket] ?? 0) + 1;
      },
    };
  };
  return {
    registry,
    passwordChecks,
    route,
    render: async () => `${renderSeries(series)}${await registry.metrics()}`,
  };
}

function renderSeries(series: Series[]): string {
  const name = 'causeway_http_request_duration_seconds';
  const lines = [`# HELP ${name} Duration of requests by route.`, `# TYPE ${name} histogram`];
  for (const { labels, counts, sum, count } of series) {
    let below = 0;
    for (const [i, bound] of BOUNDS.entries()) {
      below += counts[i] ?? 0;
      lines.push(`${name}_bucket{${labels},le="${bound / 1000}"} ${below}`);
    }
    lines.push(`${name}_bucket{${labels},le="+Inf"} ${count}`);
    lines.push(`${name}_sum{${labels}} ${sum / 1000}`, `${name}_count{${labels}} ${count}`);
  }
  return `${lines.join('\n')}\n`;
}
