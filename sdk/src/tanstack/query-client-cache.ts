import { type QueryClient, QueryObserver } from '@tanstack/react-query';
import type { Causeway } from '../client.ts';
import type { Query } from '../queries.ts';
import {
  LOADING,
  liveIntervalMs,
  type QueryCache,
  type QueryState,
  STALE_AFTER_MS,
  toCausewayError,
} from '../react/hooks/query-cache.ts';
import { fromQueryKey, type QueryScope, toQueryKey, toQueryOptions } from './query-options.ts';

/** Maps each `QueryClient` on a server to the first Causeway client that used it. */
const clients = new WeakMap<QueryClient, Causeway>();

/**
 * Keeps the hooks' results in your app's `QueryClient`: devtools show them, `invalidateQueries` reloads them, and
 * hydration and persistence include them. Pass the return value to `CausewayProvider` as `cache`. Clear the
 * `QueryClient` on sign-out. On a server, create a `QueryClient` per request or pass `user`, so that no user sees
 * another user's results. If you do neither, the cache throws when a second client uses the same `QueryClient`.
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
export function queryClientCache(
  queryClient: QueryClient,
  scope: QueryScope = {},
): (client: Causeway) => QueryCache {
  return (client) => {
    assertOneUser(queryClient, client, scope);
    const keyOf = (key: string) => toQueryKey(key, scope);
    // Turns off structural sharing, which would keep the old object if the reloaded data is the same. The countdown to
    // the next price restarts only when it gets a new object.
    const optionsOf = (query: Query<unknown>) => ({
      ...toQueryOptions(client, query, scope),
      structuralSharing: false,
    });
    /**
     * The preloaded results of this page, used only on a server. They are not stored in the `QueryClient`, because
     * several pages may share it.
     */
    const preloadedStates = new Map<string, QueryState<unknown>>();
    let isLive = false;
    // Caches the converted states. TanStack Query creates a new state object for each change, so no entry goes stale.
    const converted = new WeakMap<object, QueryState<unknown>>();
    const getState = (key: string): QueryState<unknown> => {
      const preloaded = preloadedStates.get(key);
      if (preloaded !== undefined) return preloaded;
      const state = queryClient.getQueryState(keyOf(key));
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
          ...optionsOf(query),
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
        const options = optionsOf(query);
        // Cancels a request that is already running, because it may have read the old data.
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
          if (isServer()) preloadedStates.set(key, { data, error: undefined, isLoading: false });
          else if (queryClient.getQueryData(keyOf(key)) === undefined)
            queryClient.setQueryData(keyOf(key), data);
      },
      // TanStack Query already refetches on focus.
      refetchOnFocus: () => () => undefined,
    };
  };
}

function isServer(): boolean {
  return typeof window === 'undefined';
}

/** Throws if a `QueryClient` on a server would mix the results of two clients, which may act for different users. */
function assertOneUser(queryClient: QueryClient, client: Causeway, { user }: QueryScope): void {
  if (!isServer() || user !== undefined) return;
  const known = clients.get(queryClient) ?? client;
  clients.set(queryClient, known);
  if (known === client) return;
  throw new Error(
    'On a server, one QueryClient must not hold the data of two users. Create a QueryClient per request, or pass { user } to queryClientCache.',
  );
}
