import pg from 'pg';

/** A hand-written statement. It takes no other `pg` options, because `newQuery` would ignore them. */
export type Statement = Pick<pg.QueryConfig, 'name' | 'text' | 'values'>;

/**
 * Makes a query from its parts. Given an object, `pg` would copy it with all property descriptors, which costs more
 * than everything else that it does to start a query.
 */
export function newQuery({ name, text, values }: Statement): pg.Submittable & pg.QueryConfig {
  const query = Object.assign(new pg.Query(text, values), { text });
  return name === undefined ? query : Object.assign(query, { name });
}
