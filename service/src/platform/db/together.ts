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

const PLACEHOLDERS = {
  [TOGETHER]: CompiledQuery.raw(TOGETHER),
  [TOGETHER_WITH_COMMIT]: CompiledQuery.raw(TOGETHER_WITH_COMMIT),
};

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
  assertTransaction(tx);
  return sendSteps(tx, TOGETHER, steps);
}

/**
 * Runs steps that only read, in one round trip if possible, without beginning a transaction. Each step sees what was
 * committed when it started. The results are read in the order of the steps.
 */
export function readSteps<T extends Record<string, unknown>>(
  db: Kysely<Database>,
  steps: Steps<T>,
): Promise<T> {
  return sendSteps(db, TOGETHER, steps);
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
  assertTransaction(tx);
  await assertNoCommitCalls(tx);
  return sendSteps(tx, TOGETHER_WITH_COMMIT, steps);
}

/** A step without a result may be undefined. Then nothing runs in its place. */
type Steps<T> = { [K in keyof T]: Step<T[K]> | (T[K] extends void ? undefined : never) };

function assertTransaction(db: Kysely<Database>): void {
  if (!db.isTransaction) throw new Error('steps require a transaction');
}

async function sendSteps<T extends Record<string, unknown>>(
  db: Kysely<Database>,
  text: typeof TOGETHER | typeof TOGETHER_WITH_COMMIT,
  steps: Steps<T>,
): Promise<T> {
  const sent = Object.entries(steps).filter(([, step]) => step !== undefined) as [string, Step<unknown>][];
  const queries = sent.map(([, { query }]) => query);
  const { rows } = await db.executeQuery({ ...PLACEHOLDERS[text], parameters: queries });
  const results: Record<string, unknown> = {};
  sent.forEach(([name, { read }], index) => {
    results[name] = read(rows[index] as unknown[]);
  });
  return results as T;
}
