import type { DataTag, QueryFunction, QueryKey, UseQueryOptions } from '@tanstack/react-query';
import type { Causeway } from '../client.ts';
import type { CausewayError } from '../error.ts';
import { type Queries, type Query, queries } from '../queries.ts';

/** The key of a result. Invalidate all results with `['causeway']`, or one resource with `['causeway', 'offers']`. */
export type CausewayQueryKey = readonly ['causeway', resource: string, params: string, user?: string];

export type QueryScope = {
  /**
   * The id of the signed-in user. It becomes part of every key, so that a `QueryClient` never returns another user's
   * results. Pass the same id to `causewayQueries` and `queryClientCache`.
   */
  user?: string | undefined;
};

export function toQueryKey(key: string, { user }: QueryScope): CausewayQueryKey {
  const end = key.indexOf(':');
  const own = ['causeway', key.slice(0, end), key.slice(end + 1)] as const;
  return user === undefined ? own : [...own, user];
}

/** Returns the key that was passed to `toQueryKey`. */
export function fromQueryKey([, resource, params]: QueryKey): string {
  return `${resource}:${params}`;
}

/**
 * TanStack Query's options for one query. This type is written out instead of inferred from `queryOptions`, because the
 * inferred type uses types that early releases of version 5 lack.
 */
export type CausewayQueryOptions<Data> = Omit<
  UseQueryOptions<Data, CausewayError, Data, CausewayQueryKey>,
  'queryFn' | 'queryKey'
> & {
  queryKey: DataTag<CausewayQueryKey, Data>;
  queryFn: QueryFunction<Data, CausewayQueryKey>;
};

export function toQueryOptions<Data>(
  client: Causeway,
  { key, load }: Query<Data>,
  scope: QueryScope,
): CausewayQueryOptions<Data> {
  return {
    queryKey: toQueryKey(key, scope) as CausewayQueryOptions<Data>['queryKey'],
    queryFn: ({ signal }) => load(client, signal),
    // The client already retries.
    retry: false,
  };
}

/** Takes the parameters of a query, and returns TanStack Query's options for it. */
export type QueryOptionsOf<Name extends keyof Queries> = (
  ...params: Parameters<Queries[Name]>
) => ReturnType<Queries[Name]> extends Query<infer Data> ? CausewayQueryOptions<Data> : never;

/**
 * Returns the `queryOptions` of every query, for `useQuery`, `prefetchQuery` and other TanStack Query functions. If the
 * provider uses `queryClientCache(queryClient)`, the hooks in `@causeway/sdk/react` share the same results.
 *
 * @example
 * ```tsx
 * import { useQuery } from '@tanstack/react-query';
 * import { causewayQueries } from '@causeway/sdk/tanstack';
 *
 * const options = causewayQueries(causeway);
 *
 * function Title() {
 *   const { data: offer } = useQuery(options.offer('harbour-quarter'));
 *   return <h1>{offer?.name}</h1>;
 * }
 * ```
 */
export function causewayQueries(
  client: Causeway,
  scope: QueryScope = {},
): { [Name in keyof Queries]: QueryOptionsOf<Name> } {
  const entries = Object.entries(queries).map(([name, queryOf]) => [
    name,
    (...params: never[]) =>
      toQueryOptions(client, (queryOf as (...params: never[]) => Query<unknown>)(...params), scope),
  ]);
  return Object.fromEntries(entries);
}
