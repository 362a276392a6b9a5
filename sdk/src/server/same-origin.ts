import { type HasHeaders, headerOf } from './cookies.ts';

/** What the SDK's own requests carry; a page elsewhere cannot add a header without being asked about first (CORS). */
export const OWN_REQUEST = 'causeway-request';

/** Whether a page of this app sent the request: by the browser's word, else by a header that only such a page can set. */
export function isOwnPage(request: HasHeaders, origin: string): boolean {
  const site = headerOf(request, 'sec-fetch-site');
  if (site !== undefined) return site === 'same-origin';
  const from = headerOf(request, 'origin');
  if (from !== undefined) return from === origin;
  return headerOf(request, OWN_REQUEST) !== undefined;
}

/** Whether it may be a person following a link or an address; an image, a frame or a script of a page is not. */
export function isNavigation(request: HasHeaders): boolean {
  const destination = headerOf(request, 'sec-fetch-dest');
  return destination === undefined || destination === 'document';
}

const LONGEST_PATH = 1024;

/** A path of this app as it will be sent, or the other one: nobody can make a sign-in end elsewhere. */
export function ownPath(path: string | null, origin: string, otherwise: string): string {
  // Backslashes, control characters and `//` are read as another host by one browser or another.
  if (path === null || path.length > LONGEST_PATH || !/^\/(?![/\\])[^\\\p{Cc}]*$/u.test(path))
    return otherwise;
  const url = URL.canParse(path, origin) ? new URL(path, origin) : undefined;
  return url?.origin === origin && !url.pathname.startsWith('//')
    ? `${url.pathname}${url.search}${url.hash}`
    : otherwise;
}
