import { useEffect, useRef } from 'react';

/**
 * Focuses an element when it appears. Use it for a panel that replaces the focused control, because the focus would
 * otherwise be lost.
 */
export function useFocusOnMount<Element extends HTMLElement>() {
  const element = useRef<Element>(null);
  useEffect(() => element.current?.focus({ preventScroll: false }), []);
  return element;
}
