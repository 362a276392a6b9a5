import type { Options, Result } from './result.ts';
import { startTarget } from './target.ts';

/** The size of a table. `tableBytes` and `indexBytes` are the bytes per row in the table and in all its indexes. */
export type Size = { rows: number; tableBytes: number; indexBytes: number; indexes: number };

const DEFAULT_ROWS = 20_000;

/** Measures how many bytes a row takes up in each table that grows, and in the table's indexes. */
export async function run({ rows = DEFAULT_ROWS }: Options): Promise<Result> {
  const { target: figures, stop } = await startTarget<Record<string, Size>>('./sizes-target.ts', [
    String(rows),
  ]);
  await stop();
  return { name: `Bytes per row, measured on ${rows} rows`, bars: [], figures };
}
