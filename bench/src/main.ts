import { mkdir, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';

/** What a benchmark found; `figures` are printed and kept as they are. */
export type Result = {
  name: string;
  bars: { says: string; reached: number; least: number; goal?: number }[];
  figures: Record<string, unknown>;
};

const BENCHMARKS: Record<string, () => Promise<Result>> = {
  kernel: async () => (await import('./kernel.ts')).run(),
  tokenized: async () => (await import('./tokenized.ts')).run(),
};

const wanted = process.argv.slice(2).filter((name) => !name.startsWith('-'));
const names = wanted.length > 0 ? wanted : Object.keys(BENCHMARKS);
const folder = new URL('../results/', import.meta.url);
await mkdir(folder, { recursive: true });

for (const name of names) {
  const benchmark = BENCHMARKS[name];
  if (benchmark === undefined)
    throw new Error(`there is no benchmark ${name}; there are ${Object.keys(BENCHMARKS).join(', ')}`);
  const result = await benchmark();
  console.log(`\n${result.name}`);
  console.table(result.figures);
  for (const { says, reached, least, goal } of result.bars) {
    const verdict = reached >= least ? 'reached' : 'MISSED';
    console.log(
      `${says}: ${reached.toFixed(2)} (at least ${least}${goal === undefined ? '' : `, goal ${goal}`}: ${verdict})`,
    );
  }
  const machine = { node: process.version, arch: process.arch, cores: cpus().length, cpu: cpus()[0]?.model };
  await writeFile(new URL(`${name}.json`, folder), `${JSON.stringify({ ...result, machine }, null, 2)}\n`);
}
