import { type BuiltFile, encodingFor, loadFiles } from './files.ts';

export type Pages = {
  respond(request: Request, policy: string): Promise<Response>;
  /** Builds the page ahead of the first request. */
  prepare(): Promise<unknown>;
};

const BUILD_WAIT_MS = 10_000;

/**
 * Serves the built page. While the page is being built, a request waits up to ten seconds and then gets a placeholder
 * page that reloads itself.
 */
export function createPages(build: () => Promise<string>): Pages {
  let files: Promise<Map<string, BuiltFile>> | undefined;
  const load = () => {
    files ??= build().then(loadFiles);
    // If the build failed, the next request retries it.
    files.catch(() => {
      files = undefined;
    });
    return files;
  };
  const respond: Pages['respond'] = async (request, policy) => {
    const built = await withTimeout(load(), BUILD_WAIT_MS);
    if (built === null) return buildingPage();
    const { pathname } = new URL(request.url);
    const file = built.get(pathname);
    if (file !== undefined && pathname !== '/index.html') return sendFile(request, file, pathname);
    if (pathname.startsWith('/assets/') || /\.\w+$/.test(pathname)) return notFound();
    const page = built.get('/index.html');
    return page === undefined ? notFound() : sendPage(request, page, policy);
  };
  return { respond, prepare: load };
}

/** Resolves to null if the promise takes too long. */
async function withTimeout<T>(promise: Promise<T>, milliseconds: number): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), milliseconds);
  });
  return Promise.race([promise, timeout]).finally(() => clearTimeout(timer));
}

async function sendFile(request: Request, file: BuiltFile, pathname: string): Promise<Response> {
  const encoding = encodingFor(request);
  // File names in this folder contain a content hash.
  const cache = pathname.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache';
  return new Response(encoding === null ? file.body : await file.compressed(encoding), {
    headers: {
      'content-type': file.type,
      'cache-control': cache,
      'x-content-type-options': 'nosniff',
      vary: 'Accept-Encoding',
      ...(encoding !== null && { 'content-encoding': encoding }),
    },
  });
}

/** Sets the theme on the server, so that a dark page does not flash white. */
function sendPage(request: Request, page: BuiltFile, policy: string): Response {
  const theme = /(?:^|;\s*)theme=(light|dark)(?:;|$)/.exec(request.headers.get('cookie') ?? '')?.[1];
  const text = new TextDecoder().decode(page.body);
  const body = theme === undefined ? text : text.replace('<html', `<html data-theme="${theme}"`);
  return new Response(body, { headers: { ...pageHeaders(policy), 'content-type': page.type } });
}

const pageHeaders = (policy: string) => ({
  'cache-control': 'no-cache',
  'content-security-policy': policy,
  'cross-origin-opener-policy': 'same-origin-allow-popups',
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'permissions-policy': 'camera=(self), microphone=(self), geolocation=()',
});

function notFound(): Response {
  return new Response('Not found\n', { status: 404, headers: { 'content-type': 'text/plain' } });
}

const BUILDING = `<!doctype html><html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="2">
<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">
<title>Harbour Invest</title><body><p>Building the app for the first time. It will open automatically.</p></body></html>`;

function buildingPage(): Response {
  return new Response(BUILDING, {
    status: 503,
    headers: {
      ...pageHeaders("default-src 'none'"),
      'content-type': 'text/html; charset=utf-8',
      'retry-after': '2',
    },
  });
}
