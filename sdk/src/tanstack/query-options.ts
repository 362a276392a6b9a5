import { type QueryKey, queryOptions } from '@tanstack/react-query';
import type { Causeway } from '../client.ts';
import type { CausewayError } from '../error.ts';
import { type Queries, type Query, queries } from '../queries.ts';

/** The keys of all results, for example to invalidate all with `['causeway']` or one resource with `['causeway', 'offers']`. */
export type CausewayQueryKey = readonly ['causeway', resource: string, params: string];

export function toQueryKey(key: string): CausewayQueryKey {
  const end = key.indexOf(':');
  return ['causeway', key.slice(0, end), key.slice(end + 1)];
}

/** Returns the key that `toQueryKey` was given. */
export function fromQueryKey([, resource, params]: QueryKey): string {
  return `${resource}:${params}`;
}

export function toQueryOptions<Data>(client: Causeway, { key, load }: Query<Data>) {
  return queryOptions<Data, CausewayError, Data, CausewayQueryKey>({
    queryKey: toQueryKey(key),
    queryFn: ({ signal }) => load(client, signal),
    // The client retries by itself.
    retry: false,
  });
}

/** Takes the parameters of a query, and returns TanStack Query's options for it. */
export type QueryOptionsOf<Name extends keyof Queries> = (
  ...params: Parameters<Queries[Name]>
) => ReturnType<Queries[Name]> extends Query<infer Data> ? ReturnType<typeof toQueryOptions<Data>> : never;

/**
 * Returns the `queryOptions` of every query, for `useQuery`, `prefetchQuery` and the other functions of TanStack Query. The
 * hooks of `@causeway/sdk/react` share their results if the provider has `queryClientCache(queryClient)`.
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
export function causewayQueries(client: Causeway): { [Name in keyof Queries]: QueryOptionsOf<Name> } {
  const entries = Object.entries(queries).map(([name, queryOf]) => [
    name,
    (...params: never[]) =>
      toQueryOptions(client, (queryOf as (...params: never[]) => Query<unknown>)(...params)),
  ]);
  return Object.fromEntries(entries);
}
