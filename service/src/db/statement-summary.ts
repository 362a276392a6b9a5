import type { Attributes } from '../tracer.ts';

/**
 * Returns the operation and the first table of a statement for traces. The text stays here: some statements have values
 * in it.
 */
export function summarizeStatement(text: string): { name: string; attributes: Attributes } {
  const [, operation = 'sql'] = /^\s*(\w+)/.exec(text) ?? [];
  const [, table] = /\b(?:from|into|update|join)\s+"?([a-z_]+)"?/i.exec(text) ?? [];
  const name = operation.toLowerCase();
  return {
    name: table === undefined ? name : `${name} ${table}`,
    attributes: {
      ...{ 'db.system.name': 'postgresql', 'db.operation.name': name },
      ...(table !== undefined && { 'db.collection.name': table }),
    },
  };
}
