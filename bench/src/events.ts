import type { EventFigures, EventPart } from './events-target.ts';
import { type Bar, barOf, type Options, type Result } from './result.ts';
import { startTarget } from './target.ts';

/**
 * The default size of each part. `--rows` overrides the size of the part chosen with `--part`, or of `pages` if no part
 * is chosen.
 */
const SIZES: Record<EventPart, number> = {
  ...{
    /** Events to deliver. */
    deliveries: 10_000,
    /** Deliveries queued for the hanging endpoint. */
    hanging: 10_000,
    streams: 2_000,
    /** Commits per run. */
    commits: 2_000,
    /**
     * Events in the log. The acceptance criteria require 10,000,000. The default is lower, because seeding 10,000,000
     * events takes most of the run.
     */
    pages: 1_000_000,
    /** Entries in the audit log. */
    audit: 1_000_000,
  },
};

/**
 * Measures the event log in parts. Each part runs in its own process with its own database. Prints the figures for each
 * part when that part ends.
 */
export async function run({ rows, part: only }: Options): Promise<Result> {
  const figures: Record<string, unknown> = {};
  const bars: Bar[] = [];
  const measure = async <Part extends EventPart>(
    part: Part,
    judge: (found: EventFigures[Part], size: number) => Bar[],
  ) => {
    if (only !== undefined && only !== part) return;
    const size = (part === 'pages' || part === only ? rows : undefined) ?? SIZES[part];
    const { target, stop } = await startTarget<EventFigures[Part]>('./events-target.ts', [
      part,
      String(size),
    ]);
    await stop();
    console.log(part, JSON.stringify(target));
    figures[part] = target;
    bars.push(...judge(target, size));
  };
  await measure('deliveries', ({ deliveredPerSecond }) => [
    { label: 'events appended, sequenced and delivered per second', value: deliveredPerSecond, min: 1_000 },
  ]);
  await measure('hanging', ({ firstAttemptP99Ms, ratios }) => [
    { label: 'p99 to the first attempt at 200 events/s, ms', value: firstAttemptP99Ms, max: 1_000 },
    barOf('p99 of others beside a hanging endpoint, relative', ratios, { max: 1.1 }),
  ]);
  await measure('streams', ({ streamsMb, arrivalP99Ms }, size) => [
    { label: `memory of ${size} streams, MB`, value: streamsMb, max: 150 },
    { label: 'p99 from an event to its stream at 200 events/s, ms', value: arrivalP99Ms, max: 500 },
  ]);
  await measure('commits', ({ ratios, wakingRatios, cpuRatios, tinyRatios }) => [
    barOf("commits of a participation's outcome with its event relative to without", ratios, { min: 0.85 }),
    barOf('CPU time of a commit without its event relative to with', cpuRatios, { min: 0.85 }),
    barOf('commits of a tiny change with an event relative to without', tinyRatios, { min: 0, goal: 0.85 }),
    barOf('commits that wake a worker relative to without', wakingRatios, { min: 0.85 }),
  ]);
  await measure('pages', ({ firstPageMs, deepestPageMs }, size) => [
    {
      label: `deepest page of ${size} events relative to the first`,
      value: deepestPageMs / firstPageMs,
      max: 1.3,
    },
  ]);
  await measure('audit', ({ verifySeconds }, size) => [
    { label: `verification of ${size} audit entries, s`, value: verifySeconds, max: (60 * size) / 1_000_000 },
  ]);
  return { name: 'events', figures, bars };
}
