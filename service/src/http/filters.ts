import { invalidField } from '../errors.ts';
import type { Query } from './query-string.ts';

const MAX_FILTERS = 10;
const OPERATORS = ['==', '!=', 'in'] as const;

export type Filter<Field extends string> = { field: Field; op: '==' | '!=' | 'in'; values: string[] };

/** Reads `filters[i][field]`, `filters[i][op]`, `filters[i][value]` in the order of their indexes. */
export function readFilters<Field extends string>(query: Query, fields: readonly Field[]): Filter<Field>[] {
  const parts = new Map<number, Record<string, string>>();
  for (const [name, value] of Object.entries(query)) {
    if (name !== 'filters' && !name.startsWith('filters[')) continue;
    const match = /^filters\[(\d{1,4})\]\[(field|op|value)\]$/.exec(name);
    if (match === null || typeof value !== 'string')
      throw invalidField(name.slice(0, 100), 'is not a filter');
    const index = Number(match[1]);
    const part = parts.get(index) ?? {};
    part[String(match[2])] = value;
    parts.set(index, part);
  }
  if (parts.size > MAX_FILTERS) throw invalidField('filters', `at most ${MAX_FILTERS} filters are allowed`);
  return [...parts].sort(([a], [b]) => a - b).map(([index, part]) => readFilter(index, part, fields));
}

function readFilter<Field extends string>(
  index: number,
  part: Record<string, string>,
  fields: readonly Field[],
): Filter<Field> {
  const at = `filters[${index}]`;
  const field = fields.find((known) => known === part.field);
  if (field === undefined) throw invalidField(`${at}[field]`, `must be one of ${fields.join(', ')}`);
  const op = OPERATORS.find((known) => known === part.op);
  if (op === undefined) throw invalidField(`${at}[op]`, `must be one of ${OPERATORS.join(', ')}`);
  if (part.value === undefined || part.value === '') throw invalidField(`${at}[value]`, 'is required');
  return { field, op, values: op === 'in' ? part.value.split(',') : [part.value] };
}
