import { Gauge, type Registry } from 'prom-client';

export type Sample = { labels: Record<string, string>; value: number };

/** Registers a gauge whose samples are read when it is scraped, so that no node reports stale values. */
export function registerScraped<Label extends string>(
  registry: Registry,
  { name, help, labels }: { name: string; help: string; labels: readonly Label[] },
  read: () => Promise<{ labels: Record<Label, string>; value: number }[]>,
): void {
  new Gauge({
    ...{ name, help, labelNames: labels, registers: [registry] },
    async collect() {
      // If the values cannot be read, reports no samples, because stale ones would mislead.
      const samples: Sample[] = await read().catch(() => []);
      this.reset();
      for (const each of samples) this.set(each.labels as Record<Label, string>, each.value);
    },
  });
}

/** Returns a function that calls `read` once for all concurrent callers, such as the gauges of one scrape. */
export function shareRead<T>(read: () => Promise<T>): () => Promise<T> {
  let reading: Promise<T> | null = null;
  return () => {
    reading ??= read().finally(() => {
      reading = null;
    });
    return reading;
  };
}
