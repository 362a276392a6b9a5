import type { Causeway } from './client.ts';
import { type Queries, type Query, queries } from './queries.ts';

/** Answers by the key of what was asked; plain JSON. */
export type Preloaded = Readonly<Record<string, unknown>>;

/**
 * Asks on the server what the page is going to ask, so that its first rendering has the content. Give the result to
 * `CausewayProvider` as `initial`. What fails is left out, and the page asks for it again itself.
 *
 * In a React server component import it from `@causeway/sdk`, since `@causeway/sdk/react` is client code there.
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
  return Object.fromEntries(settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : [])));
}
