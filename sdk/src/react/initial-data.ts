import { type ReactNode, useMemo } from 'react';
import type { Preloaded } from '../preload.ts';
import { useCausewayContext } from './context.ts';

export type InitialDataProps = {
  /** The result of `preload` on the server. */
  data: Preloaded;
  children: ReactNode;
};

/**
 * Gives a page's components the data that the server has preloaded for that page. Use `InitialData` if
 * `CausewayProvider` is in a layout that several pages share. Does not replace data that the browser has already
 * loaded.
 *
 * @example
 * ```tsx
 * import type { Preloaded } from '@causeway/sdk';
 * import { InitialData, OffersGrid } from '@causeway/sdk/react';
 *
 * // In a server component: <OffersPage initial={await preload(causeway, (queries) => [queries.offers()])} />
 * export function OffersPage({ initial }: { initial: Preloaded }) {
 *   return <InitialData data={initial}><OffersGrid /></InitialData>;
 * }
 * ```
 */
export function InitialData({ data, children }: InitialDataProps): ReactNode {
  const { cache } = useCausewayContext();
  // Runs during rendering, not in an effect, so that the children have the data on their first render.
  useMemo(() => cache.seed(data), [cache, data]);
  return children;
}
