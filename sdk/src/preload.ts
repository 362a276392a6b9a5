import type { Causeway } from './client.ts';
import { type Queries, type Query, queries } from './queries.ts';

/** Query results by query key, as plain JSON. */
export type Preloaded = Readonly<Record<string, unknown>>;

/**
 * Runs a page's queries on the server, so that the first render already has the data. Pass the result to
 * `CausewayProvider` as `initial`. Queries that fail are omitted, and the page runs them again.
 *
 * In a React server component, import `preload` from `@causeway/sdk`, because `@causeway/sdk/react` is client-only code
 * there.
 *
 * @example
 * ```ts
 * import { preload } from '@causeway/sdk';
 *
 * const initial = await preload(causeway, (queries) => [queries.offers(), queries.offer('harbour-quarter')]);
 * console.log(Object.keys(initial));
 * ```
 */
export async function preload(
  client: Causeway,
  choose: (available: Queries) => readonly Query<unknown>[],
  { signal }: { signal?: AbortSignal | undefined } = {},
): Promise<Preloaded> {
  const settled = await Promise.allSettled(
    choose(queries).map(async ({ key, load }) => [key, await load(client, signal)] as const),
  );
  return Object.fromEntries(
    settled.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : [])),
  );
}
