import { compare, ratioBars } from './load.ts';
import type { Bar, Options, Result } from './result.ts';
import { measure } from './settlement.ts';
import { median } from './statistics.ts';
import { type Started, startTarget } from './target.ts';

type Ready = {
  token: string;
  targets: Record<string, { ours: string; bare: string }>;
  pages: { first: string; deepest: string };
};

const SETTLED_COUNT = 1_000;

/**
 * Makes three comparisons:
 * - The list of participations (1,000,000 rows, or `--rows`) against a bare route that runs the same statements.
 * - The last page of the list against the first page.
 * - The gas of batched settlement against the gas of single commits.
 */
export async function run({ rows = 1_000_000 }: Options): Promise<Result> {
  const { target, pid, stop } = await startTarget<Ready>('./participations-target.ts', [String(rows)]);
  const figures: Record<string, unknown> = {};
  const lists: Bar[][] = [];
  let depth = 0;
  try {
    const { token, targets, pages } = target;
    const headers = { authorization: `Bearer ${token}` };
    for (const [name, { ours, bare }] of Object.entries(targets)) {
      const at = (url: string): Pick<Started, 'target' | 'pid'> => ({ target: { url, headers }, pid });
      const found = await compare({ bare: at(bare), ours: at(ours) }, { seconds: 3 });
      lists.push(ratioBars(`a bare route, ${name}`, found.ours, found.bare, { min: 0.6, goal: 0.75 }));
      figures[`${name}, ours`] = found.ours;
      figures[`${name}, bare`] = found.bare;
    }
    const { first, deepest } = await latencies(pages, headers);
    depth = deepest / first;
    figures['page latency in ms'] = { first, deepest, ratio: depth };
  } finally {
    await stop();
  }
  const rowsToSettle = { count: SETTLED_COUNT, backlog: SETTLED_COUNT, wallets: SETTLED_COUNT, history: 0 };
  const gas = await measure({ ...rowsToSettle, generation: 1, blockMs: 0, confirmations: 1 });
  figures.gas = gas;
  return {
    name: `Participations: list of ${rows.toLocaleString('en')} rows, and settlement`,
    bars: [
      // Reports only the filter whose CPU time compares worst with that of the bare route.
      ...(lists.toSorted((a, b) => (a.at(-1)?.value ?? 0) - (b.at(-1)?.value ?? 0))[0] ?? []),
      { label: 'latency of the deepest page relative to the first', value: depth, max: 1.3 },
      {
        label: 'gas per participation in batches relative to single commits',
        value: gas.batched / gas.single,
        max: 0.7,
      },
    ],
    figures,
  };
}

/** Measures both pages alternately, so that machine load affects them equally. Returns the medians. */
async function latencies(
  pages: Ready['pages'],
  headers: Record<string, string>,
): Promise<Record<'first' | 'deepest', number>> {
  const times = { first: [] as number[], deepest: [] as number[] };
  for (let i = 0; i < 1_000; i++)
    for (const name of ['first', 'deepest'] as const) {
      const start = performance.now();
      const reply = await fetch(pages[name], { headers });
      await reply.arrayBuffer();
      if (!reply.ok) throw new Error(`${pages[name]}: ${reply.status}`);
      if (i >= 200) times[name].push(performance.now() - start);
    }
  return { first: median(times.first), deepest: median(times.deepest) };
}
