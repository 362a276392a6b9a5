import { invalidField } from '../../kernel/errors.ts';
import type { Query } from './query-string.ts';

const MAX_FILTERS = 10;
const OPERATORS = ['==', '!=', 'in'] as const;

export type Filter<Field extends string> = { field: Field; op: '==' | '!=' | 'in'; values: string[] };

type Part = { field?: string; op?: string; value?: string };

/** Parses `filters[i][field]`, `filters[i][op]` and `filters[i][value]`, ordered by index. */
export function readFilters<Field extends string>(query: Query, fields: readonly Field[]): Filter<Field>[] {
  const parts: { index: number; part: Part }[] = [];
  for (const name in query) {
    if (!name.startsWith('filters')) continue;
    if (name !== 'filters' && name[7] !== '[') continue;
    const value = query[name];
    const match = /^filters\[(\d{1,4})\]\[(field|op|value)\]$/.exec(name);
    if (match === null || typeof value !== 'string')
      throw invalidField(name.slice(0, 100), 'is not a valid filter parameter');
    const index = Number(match[1]);
    let known = parts.find((each) => each.index === index);
    if (known === undefined) {
      if (parts.length >= MAX_FILTERS)
        throw invalidField('filters', `must contain at most ${MAX_FILTERS} filters`);
      known = { index, part: {} };
      parts.push(known);
    }
    known.part[match[2] as keyof Part] = value;
  }
  parts.sort((a, b) => a.index - b.index);
  return parts.map(({ index, part }) => readFilter(index, part, fields));
}

function readFilter<Field extends string>(
  index: number,
  part: Part,
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
