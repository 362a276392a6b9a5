import { type HasHeaders, headerOf } from './cookies.ts';

/** A header that the SDK sends with its own requests. Pages on other origins cannot set it without a CORS preflight. */
export const SDK_REQUEST_HEADER = 'causeway-request';

/**
 * Returns true if a page of this app sent the request. Checks `Sec-Fetch-Site`, or `Origin` if there is no
 * `Sec-Fetch-Site`. If both are missing, requires the SDK's own header.
 */
export function isSameOrigin(request: HasHeaders, appOrigin: string): boolean {
  const site = headerOf(request, 'sec-fetch-site');
  if (site !== undefined) return site === 'same-origin';
  const origin = headerOf(request, 'origin');
  if (origin !== undefined) return origin === appOrigin;
  return headerOf(request, SDK_REQUEST_HEADER) !== undefined;
}

/** Returns true if the request may be a top-level navigation, as opposed to an image, a frame or a script. */
export function isNavigation(request: HasHeaders): boolean {
  const destination = headerOf(request, 'sec-fetch-dest');
  return destination === undefined || destination === 'document';
}

const MAX_PATH_LENGTH = 1024;

/** Returns the path if it stays on this app's origin, otherwise `fallback`. Prevents open redirects. */
export function localPath(path: string | null, appOrigin: string, fallback: string): string {
  // A path that starts with `//` leads to another host. Browsers read `\` as `/` and drop some control characters, so
  // the path must contain no `\` and no control character.
  if (path === null || path.length > MAX_PATH_LENGTH || !/^\/(?![/\\])[^\\\p{Cc}]*$/u.test(path))
    return fallback;
  const url = URL.canParse(path, appOrigin) ? new URL(path, appOrigin) : undefined;
  return url?.origin === appOrigin && !url.pathname.startsWith('//')
    ? `${url.pathname}${url.search}${url.hash}`
    : fallback;
}
