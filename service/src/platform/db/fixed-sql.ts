import { CompiledQuery } from 'kysely';
import { nameOf, type Queryable } from './query.ts';

const TEXT = Symbol('text');

/** A part of an SQL text that never changes, such as a list of columns. */
export type SqlText = { readonly [TEXT]: true; readonly text: string };

export function sqlText(text: string): SqlText {
  return { [TEXT]: true, text };
}

const compiled = new WeakMap<TemplateStringsArray, CompiledQuery>();
/** The names of all statements that `fixedSql` has built, by text. */
const names = new Map<string, string>();

/**
 * Like Kysely's `sql`, but builds the text of a statement only once, so use it on hot paths. Every interpolated value
 * becomes a parameter, except for an `SqlText`, which becomes part of the text and must be the same on every call.
 */
export function fixedSql<Row = unknown>(
  strings: TemplateStringsArray,
  ...values: readonly unknown[]
): CompiledQuery<Row> {
  let known = compiled.get(strings);
  if (known === undefined) {
    known = CompiledQuery.raw(buildText(strings, values));
    compiled.set(strings, known);
    names.set(known.sql, nameOf(known.sql));
  }
  const { sql, query, queryId } = known;
  return { sql, query, queryId, parameters: values.filter((value) => !isSqlText(value)) };
}

/**
 * Runs a statement that `fixedSql` has built, outside a transaction, and returns its rows. Costs less than Kysely's
 * `executeQuery`.
 */
export async function queryRows<Row>(
  statements: Queryable,
  { sql: text, parameters }: CompiledQuery<Row>,
): Promise<Row[]> {
  const { rows } = await statements.query({ name: names.get(text), text, values: parameters as unknown[] });
  return rows as Row[];
}

function isSqlText(value: unknown): value is SqlText {
  return typeof value === 'object' && value !== null && TEXT in value;
}

function buildText([first = '', ...rest]: readonly string[], values: readonly unknown[]): string {
  let count = 0;
  return rest.reduce((text, part, index) => {
    const value = values[index];
    return `${text}${isSqlText(value) ? value.text : `$${++count}`}${part}`;
  }, first);
}
