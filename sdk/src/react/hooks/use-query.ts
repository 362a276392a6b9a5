import { useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react';
import type { CausewayError } from '../../error.ts';
import type { Page } from '../../paging.ts';
import type { Listed, Queries, Query, Resource } from '../../queries.ts';
import { useCausewayContext } from '../context.ts';
import { isAffected, isCovered } from './live-queries.ts';
import { IDLE, type QueryState } from './query-cache.ts';
import { useLastDefined } from './use-last-defined.ts';

export type HookOptions<Data = never> = {
  /**
   * How often to reload the data while the page is visible. Default: never. If set, participations, wallets and
   * requirement statuses also reload when an event reports a change. These resources are polled less often while the
   * event stream is live.
   */
  pollIntervalMs?: number | undefined;
  /** Set to false to send no request, for example until a parameter is known. Default: true. */
  enabled?: boolean | undefined;
  /**
   * The data for the first render, for example a response that your server has loaded from the API. For a list hook,
   * this is the first page. The hook shows the data without a request, and reloads it later like any other data. If the
   * page already has data for this query, `initialData` is ignored.
   */
  initialData?: Data | undefined;
};

/** The result of the hooks that load data. Old data stays while a reload runs and after a reload fails. */
export type QueryResult<Data> = {
  data: Data | undefined;
  error: CausewayError | undefined;
  /** True while the first request is running. */
  isLoading: boolean;
  refresh(): Promise<void>;
};

/** The result of list hooks: the items loaded so far, and how to load more. */
export type ListQueryResult<Item> = QueryResult<Item[]> & { hasMore: boolean; loadMore(): void };

export function useQuery<Data>(
  query: Query<Data>,
  { pollIntervalMs, enabled = true, initialData }: HookOptions<Data> = {},
): QueryResult<Data> {
  const { cache, events } = useCausewayContext();
  const latest = useRef(query);
  latest.current = query;
  const { key } = query;
  // Seeds the cache during the render, not in an effect, so that the first render already has the data.
  useMemo(() => initialData !== undefined && cache.seed({ [key]: initialData }), [cache, key]);
  const isFollowed = enabled && pollIntervalMs !== undefined && isCovered(key);
  useEffect(() => {
    if (!isFollowed) return;
    return events.subscribe((event) => {
      if (isAffected(event, key)) cache.invalidate((other) => other === key);
    });
  }, [cache, events, key, isFollowed]);
  const subscribe = useCallback(
    (notify: () => void) =>
      enabled ? cache.subscribe({ ...latest.current, key }, pollIntervalMs, notify) : () => undefined,
    [cache, key, pollIntervalMs, enabled],
  );
  const state = useSyncExternalStore(
    subscribe,
    () => (enabled ? cache.getState(key) : IDLE),
    () => (enabled ? cache.getInitialState(key) : IDLE),
  ) as QueryState<Data>;
  const refresh = useCallback(() => cache.refresh(latest.current), [cache, key]);
  return { ...state, refresh };
}

/** Loads a list in steps of `pageSize`; items already loaded stay while the next ones load. */
export function useListQuery<Item>(
  queryFor: (count: number) => Query<Listed<Item>>,
  pageSize: number,
  { initialData: page, ...options }: HookOptions<Page<Item>> = {},
): ListQueryResult<Item> {
  const [count, setCount] = useState(pageSize);
  const isFirst = page !== undefined && count === pageSize;
  const initialData = isFirst ? { items: page.data, hasMore: page.starting_after !== undefined } : undefined;
  const { data, ...rest } = useQuery(queryFor(count), { ...options, initialData });
  const list = useLastDefined(data, queryFor(pageSize).key);
  return {
    ...rest,
    data: list?.items,
    isLoading: rest.isLoading && list === undefined,
    hasMore: list?.hasMore ?? false,
    loadMore: () => setCount(count + pageSize),
  };
}

/** A query's parameters, or null or undefined until they are known. */
export type OptionalParams<Name extends keyof Queries> = Parameters<Queries[Name]>[0] | null | undefined;

const PLACEHOLDER = {} as never;

/** Runs a query once its parameters are known. */
export function useQueryOf<Params, Data>(
  queryOf: (params: Params) => Query<Data>,
  params: Params | null | undefined,
  options: HookOptions<Data> | undefined,
): QueryResult<Data> {
  return useQuery(queryOf(params ?? PLACEHOLDER), enabledIf(params, options));
}

/** Returns options that disable the query until its parameter is known. */
export function enabledIf<Data>(param: unknown, options: HookOptions<Data> = {}): HookOptions<Data> {
  return { ...options, enabled: param !== undefined && param !== null && options.enabled !== false };
}

/**
 * Returns a function that marks resources as changed and reloads the ones on screen.
 *
 * @example
 * ```tsx
 * import { useInvalidate } from '@causeway/sdk/react';
 *
 * function Reload() {
 *   const invalidate = useInvalidate();
 *   return <button type="button" onClick={() => invalidate('participations', 'tokenBalance')}>Reload</button>;
 * }
 * ```
 */
export function useInvalidate(): (...resources: Resource[]) => void {
  const { cache } = useCausewayContext();
  return useCallback(
    (...resources: Resource[]) =>
      cache.invalidate((key) => resources.some((resource) => key.startsWith(`${resource}:`))),
    [cache],
  );
}
