import { compare, type Load, startTarget } from './load.ts';
import type { Result } from './main.ts';
import { measureGas } from './participations-gas.ts';

type Ready = {
  token: string;
  targets: Record<string, { ours: string; bare: string }>;
  pages: { first: string; deepest: string };
};

const SETTLED = 1_000;

/**
 * The list at 1,000,000 rows (10,000,000 with `--ten-million`) against a bare route with the same statements; the first
 * page against the last; and the gas of settling in batches against one commit each.
 */
export async function run(): Promise<Result> {
  const rows = process.argv.includes('--ten-million') ? 10_000_000 : 1_000_000;
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
        { rounds: 3, seconds: 3 },
      );
      const ratio = found.ours.requestsPerSecond / found.bare.requestsPerSecond;
      ratios.push(ratio);
      figures[name] = { ours: found.ours.requestsPerSecond, bare: found.bare.requestsPerSecond, ratio };
    }
    const first = await latency(pages.first, headers);
    const deepest = await latency(pages.deepest, headers);
    depth = deepest / first;
    figures['page latency in ms'] = { first, deepest, ratio: depth };
  } finally {
    await stop();
  }
  const gas = await measureGas(SETTLED);
  figures.gas = gas;
  return {
    name: `Participations: the list at ${rows.toLocaleString('en')} rows, and settlement`,
    bars: [
      {
        says: 'throughput of the slowest filter against a bare route',
        reached: Math.min(...ratios),
        least: 0.6,
      },
      { says: 'latency of the deepest page against the first', reached: depth, most: 1.3 },
      {
        says: 'gas of a participation in batches against single commits',
        reached: gas.batched / gas.single,
        most: 0.7,
      },
    ],
    figures,
  };
}

/** The median of many, one after the other. */
async function latency(url: string, headers: Record<string, string>): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < 600; i++) {
    const began = performance.now();
    const reply = await fetch(url, { headers });
    await reply.arrayBuffer();
    if (!reply.ok) throw new Error(`${url}: ${reply.status}`);
    if (i >= 100) times.push(performance.now() - began);
  }
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;
}
