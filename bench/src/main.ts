import { mkdir, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import type { Bar, Options, Result } from './result.ts';

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
  overload: async () => (await import('./overload.ts')).run(),
  mixed: async () => (await import('./mixed.ts')).run(),
  traces: async () => (await import('./traces.ts')).run(),
  nodes: async () => (await import('./nodes.ts')).run(),
  sizes: async (options) => (await import('./sizes.ts')).run(options),
};

const { values, positionals } = parseArgs({
  options: { rows: { type: 'string' }, part: { type: 'string' } },
  allowPositionals: true,
});
if (values.rows !== undefined && !/^[1-9]\d{2,8}$/.test(values.rows))
  throw new Error('--rows must be an integer from 100 to 999999999');
const options = {
  ...(values.rows !== undefined && { rows: Number(values.rows) }),
  ...(values.part !== undefined && { part: values.part }),
};
const names = positionals.length > 0 ? positionals : Object.keys(BENCHMARKS);
const folder = new URL('../results/', import.meta.url);
await mkdir(folder, { recursive: true });

for (const name of names) {
  const benchmark = BENCHMARKS[name];
  if (benchmark === undefined)
    throw new Error(`unknown benchmark ${name}; use ${Object.keys(BENCHMARKS).join(', ')}`);
  const result = await benchmark(options);
  console.log(`\n${result.name}`);
  console.table(result.figures);
  for (const bar of result.bars) console.log(describeBar(bar));
  const machine = { node: process.version, arch: process.arch, cores: cpus().length, cpu: cpus()[0]?.model };
  const file = [name, values.part, values.rows].filter((word) => word !== undefined).join('-');
  await writeFile(new URL(`${file}.json`, folder), `${JSON.stringify({ ...result, machine }, null, 2)}\n`);
}

function describeBar(bar: Bar): string {
  const { label, value, goal } = bar;
  const isMet = 'min' in bar ? value >= bar.min : value <= bar.max;
  const limit = 'min' in bar ? `min ${bar.min}` : `max ${bar.max}`;
  const target = goal === undefined ? '' : `, goal ${goal}`;
  return `${label}: ${value.toFixed(value < 0.1 ? 4 : 2)} (${limit}${target}: ${isMet ? 'met' : 'MISSED'})`;
}
