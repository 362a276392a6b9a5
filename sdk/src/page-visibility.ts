const EVENTS = [
  [() => document, 'visibilitychange'],
  [() => window, 'focus'],
  [() => window, 'online'],
] as const;

export function isPageVisible(): boolean {
  return typeof document === 'undefined' || document.visibilityState === 'visible';
}

/** Calls `listener` when the page is shown or hidden, gains focus or comes back online. Does nothing outside a page. */
export function onPageActivity(listener: () => void): () => void {
  if (typeof document === 'undefined') return () => undefined;
  for (const [target, event] of EVENTS) target().addEventListener(event, listener);
  return () => {
    for (const [target, event] of EVENTS) target().removeEventListener(event, listener);
  };
}
