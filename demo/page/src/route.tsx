import { type AnchorHTMLAttributes, type MouseEvent, useEffect } from 'react';
import { createStore, useStore } from './store.ts';

/** Where the page is; the address bar is the truth. */
export type Place = { path: string; query: URLSearchParams };

const here = (): Place => ({ path: location.pathname, query: new URLSearchParams(location.search) });
const place = createStore(here());
addEventListener('popstate', () => place.set(here()));

export function usePlace(): Place {
  return useStore(place);
}

export function navigate(to: string, { replace = false } = {}): void {
  history[replace ? 'replaceState' : 'pushState'](null, '', to);
  const before = place.get().path;
  place.set(here());
  if (!replace && before !== place.get().path) scrollTo(0, 0);
}

/** The parts of a path that fit a pattern such as `/offers/:slug`; null when it does not fit. */
export function matchPath(pattern: string, path: string): Record<string, string> | null {
  const wanted = pattern.split('/');
  const given = path.replace(/\/+$/, '').split('/');
  if (wanted.length !== given.length) return null;
  const found: Record<string, string> = {};
  for (const [index, part] of wanted.entries()) {
    const value = given[index] ?? '';
    if (part.startsWith(':')) {
      if (value === '') return null;
      found[part.slice(1)] = decodeURIComponent(value);
    } else if (part !== value) return null;
  }
  return found;
}

type LinkProps = AnchorHTMLAttributes<HTMLAnchorElement> & { to: string };

/** A real link: it can be opened in a new tab, copied, and read by a screen reader. */
export function Link({ to, onClick, ...rest }: LinkProps) {
  const { path } = usePlace();
  const follow = (event: MouseEvent<HTMLAnchorElement>) => {
    onClick?.(event);
    const isPlain =
      event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    if (event.defaultPrevented || !isPlain) return;
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
