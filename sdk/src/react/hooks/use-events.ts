import { useEffect, useRef, useSyncExternalStore } from 'react';
import type { Event } from '../../wire.ts';
import { useCausewayContext } from '../context.ts';

export type UseEventsOptions = {
  /** Event types: exact names or groups such as `participation.*`. Default: all. */
  types?: readonly string[] | undefined;
  /** Set to false to receive no events. Default: true. */
  enabled?: boolean | undefined;
};

/**
 * Calls `onEvent` for each event about the user as it happens, while the component is mounted. All hooks share one
 * stream, which pauses while the page is hidden. `isLive` is false while the stream is not connected.
 *
 * @example
 * ```tsx
 * import { useState } from 'react';
 * import { useEvents } from '@causeway/sdk/react';
 *
 * function LastEvent() {
 *   const [type, setType] = useState('none');
 *   const { isLive } = useEvents((event) => setType(event.type), { types: ['participation.*'] });
 *   return <p>{isLive ? `Last event: ${type}` : 'Connecting…'}</p>;
 * }
 * ```
 */
export function useEvents(
  onEvent: (event: Event) => void,
  { types, enabled = true }: UseEventsOptions = {},
): { isLive: boolean } {
  const { events } = useCausewayContext();
  const latest = useRef({ onEvent, types });
  latest.current = { onEvent, types };
  useEffect(() => {
    if (!enabled) return;
    return events.subscribe((event) => {
      const { onEvent, types } = latest.current;
      if (types === undefined || types.some((type) => matches(type, event.type))) onEvent(event);
    });
  }, [events, enabled]);
  const isLive = useSyncExternalStore(events.onLiveChange, events.isLive, () => false);
  return { isLive };
}

function matches(wanted: string, type: string): boolean {
  return wanted === '*' || wanted === type || (wanted.endsWith('.*') && type.startsWith(wanted.slice(0, -1)));
}
