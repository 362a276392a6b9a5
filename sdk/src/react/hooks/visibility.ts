export function isVisible(): boolean {
  return typeof document === 'undefined' || document.visibilityState === 'visible';
}

/** Told when the page is shown, hidden or gets the focus. */
export function onAttention(tell: () => void): () => void {
  document.addEventListener('visibilitychange', tell);
  window.addEventListener('focus', tell);
  window.addEventListener('online', tell);
  return () => {
    document.removeEventListener('visibilitychange', tell);
    window.removeEventListener('focus', tell);
    window.removeEventListener('online', tell);
  };
}
