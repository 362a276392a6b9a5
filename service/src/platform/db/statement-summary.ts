import type { Attributes } from '../../kernel/tracer.ts';

const LITERAL = /'[^']*'/g;
/** Phrases in which `from` or `update` is not followed by a table. */
const NO_TABLE =
  /\b(?:for(?: no key)?|do)\s+update\b|\bdistinct\s+from\b|\b(?:extract|trim|substring|overlay)\s*\([^()]*\bfrom\b/gi;
/**
 * Matches the first table. After `into`, every name is a table. After `from`, `update` and `join`, a name before a
 * parenthesis is a function.
 */
const TABLE =
  /\b(?:into\s+"?|(?:from|update|join)\s+(?:only\s+)?"?(?!(?:lateral|only)\b|\w+\s*\())([a-z_][a-z0-9_]*)/i;

/**
 * Returns, for traces, the operation and the first table of a statement. Leaves out the rest of the text, because some
 * statements contain values.
 */
export function summarizeStatement(text: string): { name: string; attributes: Attributes } {
  const [, operation = 'sql'] = /^\s*(\w+)/.exec(text) ?? [];
  const [, table] = TABLE.exec(text.replace(LITERAL, "''").replace(NO_TABLE, ' ')) ?? [];
  const name = operation.toLowerCase();
  return {
    name: table === undefined ? name : `${name} ${table}`,
    attributes: {
      ...{ 'db.system.name': 'postgresql', 'db.operation.name': name },
      ...(table !== undefined && { 'db.collection.name': table }),
    },
  };
}
