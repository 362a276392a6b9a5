import { useCallback, useRef, useSyncExternalStore } from 'react';
import type { CausewayError } from '../../error.ts';
import type { Query, Resource } from '../../queries.ts';
import { useCausewayContext } from '../context.ts';
import { IDLE, type State } from './query-cache.ts';

/** How a hook queries. */
export type HookOptions = {
  /** Milliseconds after which it queries again, while the page is visible. */
  every?: number | undefined;
  /** False waits, for what is not known yet. */
  enabled?: boolean | undefined;
};

/** What every hook gives. Old data stay while newer ones are on their way, and beside the error of a later failure. */
export type Answer<Data> = {
  data: Data | undefined;
  error: CausewayError | undefined;
  /** Nothing to show yet, and the answer is on its way. */
  isLoading: boolean;
  refresh(): Promise<void>;
};

export function useQuery<Data>(ask: Query<Data>, { every, enabled = true }: HookOptions = {}): Answer<Data> {
  const { cache } = useCausewayContext();
  const latest = useRef(ask);
  latest.current = ask;
  const { key } = ask;
  const subscribe = useCallback(
    (tell: () => void) => (enabled ? cache.watch({ ...latest.current, key }, every, tell) : () => undefined),
    [cache, key, every, enabled],
  );
  const state = useSyncExternalStore(
    subscribe,
    () => (enabled ? cache.peek(key) : IDLE),
    () => (enabled ? cache.peekInitial(key) : IDLE),
  ) as State<Data>;
  const refresh = useCallback(() => cache.refresh(latest.current), [cache, key]);
  return { ...state, refresh };
}

/**
 * Gives the way to say that something has changed: what is on screen of these resources is asked again.
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
