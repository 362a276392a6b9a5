import { invalidField } from '../../kernel/errors.ts';
import type { Query } from './query-string.ts';

const NOTHING: ReadonlySet<never> = new Set();

/**
 * Reads `include`: names separated by commas, or a repeated parameter. Throws `validation_failed` for an unknown name.
 */
export function readInclude<Name extends string>(query: Query, allowed: readonly Name[]): ReadonlySet<Name> {
  if (query.include === undefined) return NOTHING;
  const names = [query.include]
    .flat()
    .flatMap((value) => value.split(','))
    .filter((name) => name !== '');
  return new Set(
    names.map((name) => {
      const known = allowed.find((each) => each === name);
      if (known !== undefined) return known;
      throw invalidField(
        'include',
        allowed.length === 0 ? 'is not supported here' : `must be one of ${allowed.join(', ')}`,
      );
    }),
  );
}
