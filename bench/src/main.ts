import { mkdir, writeFile } from 'node:fs/promises';
import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { readMachine, readVersions } from './machine.ts';
import { type Bar, describeLimit, describeValue, judge, type Options, type Result } from './result.ts';

const BENCHMARKS: Record<string, (options: Options) => Promise<Result>> = {
  kernel: async () => (await import('./kernel.ts')).run(),
  wallets: async () => (await import('./wallets.ts')).run(),
  offers: async () => (await import('./offers.ts')).run(),
  statuses: async () => (await import('./statuses.ts')).run(),
  eligibility: async () => (await import('./eligibility.ts')).run(),
  reads: async () => (await import('./reads.ts')).run(),
  oauth: async () => (await import('./oauth.ts')).run(),
  participations: async (options) => (await import('./participations.ts')).run(options),
  settlement: async (options) => (await import('./settlement.ts')).run(options),
  solana: async (options) => (await import('./solana.ts')).run(options),
  events: async (options) => (await import('./events.ts')).run(options),
  tokenized: async () => (await import('./tokenized.ts')).run(),
  start: async () => (await import('./start.ts')).run(),
  memory: async () => (await import('./memory.ts')).run(),
  install: async () => (await import('./install.ts')).run(),
  overload: async () => (await import('./overload.ts')).run(),
  mixed: async () => (await import('./mixed.ts')).run(),
  traces: async () => (await import('./traces.ts')).run(),
  nodes: async () => (await import('./nodes.ts')).run(),
  growth: async (options) => (await import('./growth.ts')).run(options),
  sizes: async (options) => (await import('./sizes.ts')).run(options),
};

const { values, positionals } = parseArgs({
  options: {
    rows: { type: 'string' },
    part: { type: 'string' },
    large: { type: 'boolean' },
    report: { type: 'boolean' },
  },
  allowPositionals: true,
});
if (values.rows !== undefined && !/^[1-9]\d{2,8}$/.test(values.rows))
  throw new Error('--rows must be an integer from 100 to 999999999');
const options = {
  ...(values.rows !== undefined && { rows: Number(values.rows) }),
  ...(values.part !== undefined && { part: values.part }),
  ...(values.large !== undefined && { large: values.large }),
};
const names = positionals.length > 0 || values.report ? positionals : Object.keys(BENCHMARKS);
const unknown = names.find((name) => BENCHMARKS[name] === undefined);
if (unknown !== undefined)
  throw new Error(`unknown benchmark "${unknown}"; use ${Object.keys(BENCHMARKS).join(', ')}`);
const folder = new URL('../results/', import.meta.url);
await mkdir(folder, { recursive: true });

// Calls `process.exit` on a signal, so that the exit handlers run. They stop the targets and remove their bundles.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

for (const name of names) {
  const startedAt = performance.now();
  const [loadAverage] = loadavg();
  const result = await (BENCHMARKS[name] as (options: Options) => Promise<Result>)(options);
  console.log(`\n${result.name}`);
  console.table(
    Object.fromEntries(Object.entries(result.figures).map(([key, figure]) => [key, flatten(figure)])),
  );
  for (const bar of result.bars) console.log(describeBar(bar));
  const flags = Object.entries(options).map(([flag, value]) =>
    value === true ? `--${flag}` : `--${flag} ${value}`,
  );
  const written = {
    ...result,
    command: ['npm run bench --', name, ...flags].join(' '),
    date: new Date().toISOString().slice(0, 10),
    seconds: Math.round((performance.now() - startedAt) / 1000),
    machine: { ...readMachine(), loadAverage },
    versions: readVersions(),
  };
  const file = [name, values.part, values.rows].filter((word) => word !== undefined).join('-');
  await writeFile(new URL(`${file}.json`, folder), `${JSON.stringify(written, null, 2)}\n`);
}

// Writes the report from the stored results. With `--report` and no names, this is the only step.
(await import('./report.ts')).writeReport();

function describeBar(bar: Bar): string {
  return `${bar.label}: ${describeValue(bar)} (${describeLimit(bar)}: ${judge(bar)})`;
}

/** Formats a plain value or a point on a growth curve. */
function describeElement(element: number | { size: number; median: number }): string {
  return typeof element === 'number' ? element.toFixed(2) : `${element.size}: ${element.median.toFixed(0)}`;
}

/** Turns a figure into one row of a table: leaves out the rounds and flattens nested objects. */
function flatten(figure: unknown): unknown {
  if (typeof figure !== 'object' || figure === null || Array.isArray(figure)) return figure;
  const { rounds: _, ...rest } = figure as Record<string, unknown>;
  return Object.fromEntries(
    Object.entries(rest).flatMap(([key, value]) =>
      typeof value !== 'object' || value === null
        ? [[key, value]]
        : Array.isArray(value)
          ? [[key, value.map(describeElement).join(', ')]]
          : Object.entries(value),
    ),
  );
}
