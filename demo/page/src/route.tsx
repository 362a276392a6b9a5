import { type AnchorHTMLAttributes, type MouseEvent, useEffect } from 'react';
import { createStore, useStore } from './store.ts';

/** The current path and query, taken from the address bar. */
export type RouteLocation = { path: string; query: URLSearchParams };

const readLocation = (): RouteLocation => ({
  path: location.pathname,
  query: new URLSearchParams(location.search),
});
const store = createStore(readLocation());
addEventListener('popstate', () => store.set(readLocation()));

export function useLocation(): RouteLocation {
  return useStore(store);
}

export function navigate(to: string, { replace = false } = {}): void {
  history[replace ? 'replaceState' : 'pushState'](null, '', to);
  const before = store.get().path;
  store.set(readLocation());
  if (!replace && before !== store.get().path) scrollTo(0, 0);
}

/** Returns the path's parameters if the path matches a pattern such as `/offers/:slug`, and null otherwise. */
export function matchPath(pattern: string, path: string): Record<string, string> | null {
  const expected = pattern.split('/');
  const actual = path.replace(/\/+$/, '').split('/');
  if (expected.length !== actual.length) return null;
  const params: Record<string, string> = {};
  for (const [index, part] of expected.entries()) {
    const value = actual[index] ?? '';
    if (part.startsWith(':')) {
      if (value === '') return null;
      params[part.slice(1)] = decodeURIComponent(value);
    } else if (part !== value) return null;
  }
  return params;
}

type LinkProps = AnchorHTMLAttributes<HTMLAnchorElement> & { to: string };

/** A link that navigates without a page load but can still be copied or opened in a new tab. */
export function Link({ to, onClick, ...rest }: LinkProps) {
  const { path } = useLocation();
  const follow = (event: MouseEvent<HTMLAnchorElement>) => {
    onClick?.(event);
    const isPlainClick =
      event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    if (event.defaultPrevented || !isPlainClick) return;
    event.preventDefault();
    navigate(to);
  };
  const current = path === to.split('?')[0] ? ({ 'aria-current': 'page' } as const) : {};
  return <a href={to} onClick={follow} {...current} {...rest} />;
}

export function useTitle(title: string | undefined): void {
  useEffect(() => {
    document.title = title === undefined ? 'Harbour Invest' : `${title} · Harbour Invest`;
  }, [title]);
}
