import { type QueryClient, QueryObserver } from '@tanstack/react-query';
import type { Causeway } from '../client.ts';
import {
  LOADING,
  liveIntervalMs,
  type QueryCache,
  type QueryState,
  STALE_AFTER_MS,
  toCausewayError,
} from '../react/hooks/query-cache.ts';
import { fromQueryKey, toQueryKey, toQueryOptions } from './query-options.ts';

/**
 * Keeps the results of the hooks in your app's `QueryClient`: devtools show them, `invalidateQueries` reloads them, and
 * hydration and persistence include them. Pass it to `CausewayProvider` as `cache`. Sign-out must clear the client.
 *
 * @example
 * ```tsx
 * import { QueryClient } from '@tanstack/react-query';
 * import { CausewayProvider, OffersGrid } from '@causeway/sdk/react';
 * import { queryClientCache } from '@causeway/sdk/tanstack';
 *
 * const queryClient = new QueryClient();
 * const page = (
 *   <CausewayProvider client={causeway} cache={queryClientCache(queryClient)}>
 *     <OffersGrid />
 *   </CausewayProvider>
 * );
 * ```
 */
export function queryClientCache(queryClient: QueryClient): (client: Causeway) => QueryCache {
  return (client) => {
    let isLive = false;
    // TanStack Query replaces a query's state when it changes, so each state is converted once.
    const converted = new WeakMap<object, QueryState<unknown>>();
    const getState = (key: string): QueryState<unknown> => {
      const state = queryClient.getQueryState(toQueryKey(key));
      if (state === undefined) return LOADING;
      const known = converted.get(state);
      if (known !== undefined) return known;
      const next = {
        data: state.data,
        error: state.error === null ? undefined : toCausewayError(state.error),
        isLoading: state.status === 'pending',
      };
      converted.set(state, next);
      return next;
    };
    return {
      getState,
      getInitialState: getState,
      subscribe: (query, pollIntervalMs, notify) => {
        const observer = new QueryObserver(queryClient, {
          ...toQueryOptions(client, query),
          ...(queryClient.getDefaultOptions().queries?.staleTime === undefined && {
            staleTime: STALE_AFTER_MS,
          }),
          refetchInterval: ({ state }) => {
            if (pollIntervalMs === undefined) return false;
            const wantedMs = isLive ? liveIntervalMs(query.key, pollIntervalMs) : pollIntervalMs;
            return Math.max(wantedMs, (state.error?.retryAfter ?? 0) * 1000);
          },
        });
        return observer.subscribe(notify);
      },
      refresh: async (query) => {
        const options = toQueryOptions(client, query);
        // A running request may have read the old data.
        await queryClient.cancelQueries({ queryKey: options.queryKey, exact: true });
        await queryClient.fetchQuery({ ...options, staleTime: 0 }).catch(() => undefined);
      },
      invalidate: (matches) =>
        void queryClient.invalidateQueries({
          queryKey: ['causeway'],
          predicate: ({ queryKey }) => matches(fromQueryKey(queryKey)),
        }),
      setLive: (next) => {
        isLive = next;
      },
      seed: (preloaded) => {
        for (const [key, data] of Object.entries(preloaded))
          if (queryClient.getQueryData(toQueryKey(key)) === undefined)
            queryClient.setQueryData(toQueryKey(key), data);
      },
      // TanStack Query refetches on focus by itself.
      refetchOnFocus: () => () => undefined,
    };
  };
}
