import { compare, type Load, startTarget } from './load.ts';
import type { GasFigures } from './participations-gas.ts';
import type { Options, Result } from './result.ts';

type Ready = {
  token: string;
  targets: Record<string, { ours: string; bare: string }>;
  pages: { first: string; deepest: string };
};

const SETTLED = 1_000;

/**
 * The list at 1,000,000 rows (another number with `--rows 10000000`) against a bare route with the same statements; the first
 * page against the last; and the gas of settling in batches against one commit each.
 */
export async function run({ rows = 1_000_000 }: Options): Promise<Result> {
  const { target, stop } = await startTarget('./participations-target.ts', [String(rows)]);
  const figures: Record<string, unknown> = {};
  const ratios: number[] = [];
  let depth = 0;
  try {
    const { token, targets, pages } = target as unknown as Ready;
    const headers = { authorization: `Bearer ${token}` };
    for (const [name, { ours, bare }] of Object.entries(targets)) {
      const found: Record<'ours' | 'bare', Load> = await compare(
        { bare: { url: bare }, ours: { url: ours, headers } },
        { rounds: 5, seconds: 3 },
      );
      const ratio = found.ours.requestsPerSecond / found.bare.requestsPerSecond;
      ratios.push(ratio);
      figures[name] = { ours: found.ours.requestsPerSecond, bare: found.bare.requestsPerSecond, ratio };
    }
    const { first, deepest } = await latencies(pages, headers);
    depth = deepest / first;
    figures['page latency in ms'] = { first, deepest, ratio: depth };
  } finally {
    await stop();
  }
  const gas = await measureGas();
  figures.gas = gas;
  return {
    name: `Participations: the list at ${rows.toLocaleString('en')} rows, and settlement`,
    bars: [
      {
        label: 'throughput of the slowest filter against a bare route',
        value: Math.min(...ratios),
        min: 0.6,
      },
      { label: 'latency of the deepest page against the first', value: depth, max: 1.3 },
      {
        label: 'gas of a participation in batches against single commits',
        value: gas.batched / gas.single,
        max: 0.7,
      },
    ],
    figures,
  };
}

async function measureGas(): Promise<GasFigures> {
  const { target, stop } = await startTarget('./participations-gas.ts', [String(SETTLED)]);
  await stop();
  return target as unknown as GasFigures;
}

/** The median of many, taken in turn, so that a busy moment of the machine hits both alike. */
async function latencies(
  pages: Ready['pages'],
  headers: Record<string, string>,
): Promise<Record<'first' | 'deepest', number>> {
  const times = { first: [] as number[], deepest: [] as number[] };
  for (let i = 0; i < 1_000; i++)
    for (const name of ['first', 'deepest'] as const) {
      const began = performance.now();
      const reply = await fetch(pages[name], { headers });
      await reply.arrayBuffer();
      if (!reply.ok) throw new Error(`${pages[name]}: ${reply.status}`);
      if (i >= 200) times[name].push(performance.now() - began);
    }
  const middle = (list: number[]) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)] ?? 0;
  return { first: middle(times.first), deepest: middle(times.deepest) };
}
