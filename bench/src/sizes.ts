import type { Options, Result } from './result.ts';
import { startTarget } from './target.ts';

/** Rows of a table, and bytes per row in the table and in its indexes. */
export type Size = { rows: number; tableBytes: number; indexBytes: number; indexes: number };

const DEFAULT_ROWS = 20_000;

/** Measures the bytes per row of every table that grows, in the table and in its indexes. */
export async function run({ rows = DEFAULT_ROWS }: Options): Promise<Result> {
  const { target: figures, stop } = await startTarget<Record<string, Size>>('./sizes-target.ts', [
    String(rows),
  ]);
  await stop();
  return { name: `Bytes per row, measured on ${rows} rows`, bars: [], figures };
}
