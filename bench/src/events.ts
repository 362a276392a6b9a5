import type { EventFigures, EventPart } from './events-target.ts';
import { median, startTarget } from './load.ts';
import type { Bar, Options, Result } from './result.ts';

/**
 * The default size of the log. `--rows 10000000` measures a log of the size that the acceptance criteria
 * name; seeding it takes most of the time.
 */
const ROWS = 1_000_000;

/**
 * Measures the event log in parts. Each part runs in its own process with its own database, and prints its
 * figures when it ends.
 */
export async function run({ rows = ROWS, part: only }: Options): Promise<Result> {
  const figures: Record<string, unknown> = {};
  const bars: Bar[] = [];
  const measure = async <Part extends EventPart>(part: Part, judge: (found: EventFigures[Part]) => Bar[]) => {
    if (only !== undefined && only !== part) return;
    const { target, stop } = await startTarget<EventFigures[Part]>('./events-target.ts', [
      part,
      String(rows),
    ]);
    await stop();
    console.log(part, JSON.stringify(target));
    figures[part] = target;
    bars.push(...judge(target));
  };
  await measure('deliveries', ({ deliveredPerSecond }) => [
    { label: 'events appended, sequenced and delivered per second', value: deliveredPerSecond, min: 1_000 },
  ]);
  await measure('hanging', ({ firstAttemptP99Ms, ratios }) => [
    { label: 'p99 to the first attempt at 200 events/s, ms', value: firstAttemptP99Ms, max: 1_000 },
    { label: 'p99 of others beside a hanging endpoint, relative', value: median(ratios), max: 1.1 },
  ]);
  await measure('streams', ({ streamsMb }) => [
    { label: 'memory of 2,000 streams, MB', value: streamsMb, max: 150 },
  ]);
  await measure('commits', ({ ratios, wakingRatios }) => [
    { label: `commits with events relative to without, ${spread(ratios)}`, value: median(ratios), min: 0.85 },
    {
      ...{ label: `commits that wake a worker relative to without, ${spread(wakingRatios)}` },
      ...{ value: median(wakingRatios), min: 0.85 },
    },
  ]);
  await measure('pages', ({ firstPageMs, deepestPageMs }) => [
    {
      label: `deepest page of ${rows} events relative to the first`,
      value: deepestPageMs / firstPageMs,
      max: 1.3,
    },
  ]);
  return { name: 'events', figures, bars };
}

function spread(ratios: readonly number[]): string {
  return `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}`;
}
