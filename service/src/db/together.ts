import { CompiledQuery, type Kysely } from 'kysely';
import { assertNoCommitCalls } from './commit-calls.ts';
import type { Database } from './tables.ts';

/**
 * The text of a placeholder query, which is never sent: `statements.ts` intercepts it. Its parameters are the
 * statements to send together instead.
 */
export const TOGETHER = 'together';

/** Like `TOGETHER`, but the transaction is committed together with the statements. */
export const TOGETHER_WITH_COMMIT = 'together with commit';

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
  steps: Steps<T>,
): Promise<T> {
  return sendSteps(tx, TOGETHER, steps);
}

/**
 * Like `runSteps`, but also commits the transaction, in the same round trip if possible. Must be the last call of the
 * transaction. The results are read after the commit, so a step that throws when it is read undoes nothing. After a
 * timeout or a lost connection, the server may still run the steps and commit.
 */
export async function commitSteps<T extends Record<string, unknown>>(
  tx: Kysely<Database>,
  steps: Steps<T>,
): Promise<T> {
  await assertNoCommitCalls(tx);
  return sendSteps(tx, TOGETHER_WITH_COMMIT, steps);
}

type Steps<T> = { [K in keyof T]: Step<T[K]> };

async function sendSteps<T extends Record<string, unknown>>(
  tx: Kysely<Database>,
  text: typeof TOGETHER | typeof TOGETHER_WITH_COMMIT,
  steps: Steps<T>,
): Promise<T> {
  if (!tx.isTransaction) throw new Error('steps require a transaction');
  const all = Object.entries(steps) as [string, Step<unknown>][];
  const queries = all.map(([, { query }]) => query);
  const { rows } = await tx.executeQuery(CompiledQuery.raw(text, queries));
  return Object.fromEntries(
    all.map(([name, { read }], index) => [name, read(rows[index] as unknown[])]),
  ) as T;
}
