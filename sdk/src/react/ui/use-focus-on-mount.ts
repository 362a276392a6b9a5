import { useEffect, useRef } from 'react';

/** Focuses an element when it appears, for panels that replace the control the user has just used. */
export function useFocusOnMount<Element extends HTMLElement>() {
  const element = useRef<Element>(null);
  useEffect(() => element.current?.focus({ preventScroll: false }), []);
  return element;
}
