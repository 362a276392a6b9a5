import { useEffect, useRef } from 'react';

/** What takes the place of the control that the user has just used takes its focus too. */
export function useFocusOnAppearance<Element extends HTMLElement>() {
  const element = useRef<Element>(null);
  useEffect(() => element.current?.focus({ preventScroll: false }), []);
  return element;
}
