import { CompiledQuery, type Kysely } from 'kysely';
import type { Database } from './tables.ts';

/**
 * The text of a placeholder query, which is never sent: `statements.ts` intercepts it. Its parameters are the
 * statements to send together instead.
 */
export const TOGETHER = 'together';

/**
 * A statement, and a function that turns its rows into a result or throws. The comment on a function that returns a
 * step describes what the step does when it runs.
 */
export type Step<T> = { query: CompiledQuery; read(rows: unknown[]): T };

export function newStep<Row, T>(query: CompiledQuery<Row>, read: (rows: Row[]) => T): Step<T> {
  return { query, read: (rows) => read(rows as Row[]) };
}

/** Returns the step with its result passed through `change`. */
export function mapStep<T, U>({ query, read }: Step<T>, change: (result: T) => U): Step<U> {
  return { query, read: (rows) => change(read(rows)) };
}

export async function runStep<T>(db: Kysely<Database>, { query, read }: Step<T>): Promise<T> {
  return read((await db.executeQuery(query)).rows);
}

/**
 * Runs steps in order in a transaction, in one round trip if possible. Each statement sees what the earlier ones have
 * locked and changed. If a statement fails, the later ones do not run. The results are read after all statements have
 * run, in the order of the steps.
 */
export async function runSteps<T extends Record<string, unknown>>(
  tx: Kysely<Database>,
  steps: { [K in keyof T]: Step<T[K]> },
): Promise<T> {
  if (!tx.isTransaction) throw new Error('runSteps requires a transaction');
  const all = Object.entries(steps) as [string, Step<unknown>][];
  const queries = all.map(([, { query }]) => query);
  const { rows } = await tx.executeQuery(CompiledQuery.raw(TOGETHER, queries));
  return Object.fromEntries(
    all.map(([name, { read }], index) => [name, read(rows[index] as unknown[])]),
  ) as T;
}
