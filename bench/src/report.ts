import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Curve } from './growth.ts';
import type { Loads } from './load.ts';
import type { Machine } from './machine.ts';
import {
  drawGrowth,
  drawLatencies,
  drawRatios,
  type GrowthRow,
  type LatencyRow,
  type RatioRow,
} from './plots.mjs';
import { describeLimit, describeValue, judge, type Result } from './result.ts';

/**
 * A file in `bench/results`. A file without a date comes from an earlier version of the benchmark, which ran only one
 * round and had different limits. The report shows such a file's values, but does not compare them with the limits.
 */
type Stored = Result & {
  file: string;
  command?: string;
  date?: string;
  seconds?: number;
  machine: Machine & { loadAverage?: number };
  versions?: Record<string, string>;
};

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const RESULTS = `${ROOT}bench/results/`;
const THEMES = ['light', 'dark'] as const;
/** The benchmarks that compare us with peers. The report plots the latencies that these benchmarks measured. */
const LATENCY_FILES = ['kernel', 'offers', 'statuses', 'eligibility', 'oauth', 'tokenized'];

/** Writes `docs/benchmarks.md` and its plots. */
export function writeReport(): void {
  mkdirSync(`${ROOT}docs/images`, { recursive: true });
  for (const [path, text] of Object.entries(renderReport())) writeFileSync(`${ROOT}${path}`, text);
}

/** Returns the report's files by path. Everything in them comes from `bench/results`. */
export function renderReport(): Record<string, string> {
  const results = readdirSync(RESULTS)
    .filter((name) => name.endsWith('.json'))
    .sort()
    .map((name): Stored => ({ file: name, ...JSON.parse(readFileSync(`${RESULTS}${name}`, 'utf8')) }));
  const plots = {
    ratios: { rows: ratioRows(results), draw: drawRatios },
    latencies: { rows: latencyRows(results), draw: drawLatencies },
    growth: { rows: growthRows(results), draw: drawGrowth },
  };
  const files: Record<string, string> = {};
  for (const theme of THEMES) {
    const path = (name: keyof typeof plots) => `docs/images/benchmark-${name}-${theme}.svg`;
    if (plots.ratios.rows.length > 0) files[path('ratios')] = drawRatios(plots.ratios.rows, theme);
    if (plots.latencies.rows.length > 0)
      files[path('latencies')] = drawLatencies(plots.latencies.rows, theme);
    if (plots.growth.rows.length > 0) files[path('growth')] = drawGrowth(plots.growth.rows, theme);
  }
  return { ...files, 'docs/benchmarks.md': page(results, files) };
}

function page(results: readonly Stored[], plots: Record<string, string>): string {
  const picture = (name: string, description: string) =>
    plots[`docs/images/benchmark-${name}-light.svg`] === undefined
      ? 'No results yet.'
      : `<picture>
  <source media="(prefers-color-scheme: dark)" srcset="images/benchmark-${name}-dark.svg">
  <img src="images/benchmark-${name}-light.svg" alt="${description}">
</picture>`;
  return `# Benchmarks

Generated from \`bench/results\` by \`npm run bench -- --report\`; no number is written by hand. A value with a range in parentheses is
the median of at least five rounds in which the targets took turns, with the lowest and the highest round. If the limit lies inside
the range, the result decides nothing. A value without a range was measured once. CPU time per request depends less than throughput
on what else runs on the machine. The load average says how much that was.

## Limits

Each value relative to its limit: right of the line is better. The bar is the spread, the diamond is the goal.

${picture('ratios', 'Every limit with the measured value, its spread and the goal')}

${results.map(section).join('\n')}
## Latency

Closed loop of 64 connections at full load: p50, p75, p90 and p99.

${picture('latencies', 'Latency percentiles of our routes and of their peers')}

## How cost grows

CPU time of the service and its database per operation, relative to the smallest size. The dashed lines are flat and linear. The
exponents are in the table of \`growth\` above.

${picture('growth', 'Cost per operation over the number of rows, users, streams or offers')}
`;
}

function section({ name, file, bars, command, date, seconds, machine, versions = {} }: Stored): string {
  const rows = bars.map(
    (bar) =>
      `| ${bar.label} | ${describeValue(bar)} | ${date === undefined ? '–' : describeLimit(bar)} | ${date === undefined ? 'not judged: from an earlier version' : judge(bar)} |`,
  );
  const table = [`| | Measured | Limit | |`, '|---|---|---|---|', ...rows].join('\n');
  const node = versions.node ?? (machine as unknown as { node?: string }).node;
  const facts = [
    ...(date === undefined ? [] : [date]),
    `${machine.cores} × ${machine.cpu} (${machine.arch})`,
    ...(machine.loadAverage === undefined ? [] : [`load average ${machine.loadAverage.toFixed(1)} before`]),
    `Node ${node}`,
    ...Object.entries(versions)
      .filter(([tool]) => tool !== 'node')
      .map(([tool, version]) => `${tool} ${version}`),
  ];
  const repeat = command ?? `npm run bench -- ${file.replace(/[-.].*$/, '')}`;
  const duration =
    seconds === undefined ? '' : ` (${seconds < 90 ? `${seconds} s` : `${Math.round(seconds / 60)} min`})`;
  return `### ${name}

${bars.length > 0 ? `${table}\n\n` : ''}\`${repeat}\`${duration} · [${file}](../bench/results/${file}) · ${facts.join(' · ')}
`;
}

/**
 * Returns one plot row per bar. In every row, higher is better: if lower is better for a bar, its values are mirrored
 * at the limit (`limit² / value`). Skips growth exponents and results without a date. Also skips a bar if its limit or
 * one of its rounds is not positive, because a logarithmic scale cannot show such values.
 */
function ratioRows(results: readonly Stored[]): RatioRow[] {
  return results
    .filter(({ file, date }) => !file.startsWith('growth') && date !== undefined)
    .flatMap(({ file, bars }) =>
      bars.flatMap((bar): RatioRow[] => {
        const limit = 'min' in bar ? bar.min : bar.max;
        const { value, rounds = [value], goal } = bar;
        if (limit <= 0 || rounds.some((round) => !(round > 0))) return [];
        const turn = (number: number) => ('min' in bar ? number : limit ** 2 / number);
        const turned = rounds.map(turn);
        return [
          {
            label: shorten(`${file.replace('.json', '')}: ${bar.label}`),
            ...{ value: turn(value), lowest: Math.min(...turned), highest: Math.max(...turned), limit },
            ...(goal !== undefined && { goal: turn(goal) }),
          },
        ];
      }),
    );
}

function latencyRows(results: readonly Stored[]): LatencyRow[] {
  return results
    .filter(({ file }) => LATENCY_FILES.includes(file.replace('.json', '')))
    .flatMap(({ file, figures }) =>
      Object.entries(figures as Record<string, Partial<Loads>>).flatMap(([name, { latency }]) =>
        Object.entries(latency ?? {}).map(([percentile, ms]) => ({
          ...{ target: shorten(`${file.replace('.json', '')}: ${name}`), percentile },
          // The histogram counts whole milliseconds, so a latency can be 0, which a logarithmic scale cannot show.
          ms: Math.max(ms, 0.5),
        })),
      ),
    );
}

function growthRows(results: readonly Stored[]): GrowthRow[] {
  return results
    .filter(({ file }) => file.startsWith('growth'))
    .flatMap(({ figures }) =>
      Object.entries(figures as Record<string, Curve>).flatMap(([curve, { points }]) =>
        points.map(({ size, median }) => ({
          ...{ curve, times: size / (points[0]?.size ?? 1), cost: median / (points[0]?.median ?? 1) },
        })),
      ),
    );
}

function shorten(label: string): string {
  return label.length > 68 ? `${label.slice(0, 67)}…` : label;
}
