import { CompiledQuery } from 'kysely';

const TEXT = Symbol('text');

/** A part of an SQL text that never changes, such as a list of columns. */
export type SqlText = { readonly [TEXT]: true; readonly text: string };

export function sqlText(text: string): SqlText {
  return { [TEXT]: true, text };
}

const texts = new WeakMap<TemplateStringsArray, string>();

/**
 * Like Kysely's `sql`, but builds the text of a statement only once, so use it on hot paths. Every interpolated value
 * becomes a parameter, except for an `SqlText`, which becomes part of the text and must be the same on every call.
 */
export function fixedSql<Row = unknown>(
  strings: TemplateStringsArray,
  ...values: readonly unknown[]
): CompiledQuery<Row> {
  let text = texts.get(strings);
  if (text === undefined) {
    text = buildText(strings, values);
    texts.set(strings, text);
  }
  const parameters = values.filter((value) => !isSqlText(value));
  return CompiledQuery.raw(text, parameters) as CompiledQuery<Row>;
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
