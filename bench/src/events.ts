import type { EventFigures } from './events-target.ts';
import { startTarget } from './load.ts';
import type { Options, Result } from './result.ts';

const ROWS = 10_000_000;

/** Measures the event log: commits, deliveries, streams, and pages of a log with `rows` events. */
export async function run({ rows = ROWS }: Options): Promise<Result> {
  const { target, stop } = await startTarget<EventFigures>('./events-target.ts', [String(rows)]);
  await stop();
  return {
    name: `events, and a log of ${rows}`,
    figures: { events: target },
    bars: [
      {
        label: 'events appended, sequenced and delivered per second',
        value: target.deliveredPerSecond,
        min: 1_000,
      },
      { label: 'p99 to the first attempt at 200 events/s, ms', value: target.firstAttemptP99Ms, max: 1_000 },
      { label: 'memory of 2,000 streams, MB', value: target.streamsMb, max: 150 },
      { label: 'commits with events relative to commits without', value: target.commitRatio, min: 0.85 },
      {
        label: 'deepest page relative to the first',
        value: target.deepestPageMs / target.firstPageMs,
        max: 1.3,
      },
      {
        label: 'p99 of others beside a hanging endpoint, relative',
        value: target.hangingP99Ms / target.firstAttemptP99Ms,
        max: 1.1,
      },
    ],
  };
}
