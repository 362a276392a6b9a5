import { median, printRow } from './compare.ts';
import { startTarget } from './target.ts';
import type { Pages } from './targets/pages.ts';

// Reads the first and the deepest page of long lists in turn. `npm run bench -- pages 10000000` seeds for half an hour.

const REQUESTS = 500;
const WARM_UP_REQUESTS = 100;

const rows = Number(process.argv[2] ?? 1_000_000);
const { headers, participations, events } = await startTarget<Pages>('pages', { rows });
for (const [name, { first, deepest }] of Object.entries({ participations, events })) {
  const times = { first: [] as number[], deepest: [] as number[] };
  for (let i = 0; i < WARM_UP_REQUESTS + REQUESTS; i++) {
    times.first.push(await timeOf(first));
    times.deepest.push(await timeOf(deepest));
  }
  const [near, far] = [times.first, times.deepest].map((all) => median(all.slice(WARM_UP_REQUESTS))) as [
    number,
    number,
  ];
  const measured = `${(far / near).toFixed(2)}× (${far.toFixed(1)} and ${near.toFixed(1)} ms)`;
  printRow(`deepest page of ${rows.toLocaleString('en')} ${name}`, measured, '≤ 1.3×', 'the first page');
}

async function timeOf(url: string): Promise<number> {
  const start = performance.now();
  const reply = await fetch(url, { headers });
  const { data } = (await reply.json()) as { data: unknown[] };
  if (data.length !== 20) throw new Error(`${url}: a page has ${data.length} rows instead of 20`);
  return performance.now() - start;
}
