export type Filter<Field extends string> = {
  field: Field;
  op: '==' | '!=' | 'in';
  /** An array of values if `op` is `in`. */
  value: string | readonly string[];
};

/** Encodes filters as `filters[0][field]=…` and so on. */
export function encodeFilters(filters: readonly Filter<string>[]): Record<string, string> {
  return Object.fromEntries(
    filters.flatMap(({ field, op, value }, index) => [
      [`filters[${index}][field]`, field],
      [`filters[${index}][op]`, op],
      [`filters[${index}][value]`, typeof value === 'string' ? value : value.join(',')],
    ]),
  );
}
