import { type BuiltFile, encodingFor, loadFiles } from './files.ts';

export type Pages = {
  answer(request: Request, policy: string): Promise<Response>;
  /** Builds before anybody asks. */
  prepare(): Promise<unknown>;
};

const PATIENCE = 10_000;

/** The built page. A request that comes before it is built waits a little, then sees that it is being built. */
export function createPages(build: () => Promise<string>): Pages {
  let files: Promise<Map<string, BuiltFile>> | undefined;
  const load = () => {
    files ??= build().then(loadFiles);
    // A failed build is tried again by the next request.
    files.catch(() => {
      files = undefined;
    });
    return files;
  };
  const answer: Pages['answer'] = async (request, policy) => {
    const built = await within(load(), PATIENCE);
    if (built === null) return buildingPage();
    const { pathname } = new URL(request.url);
    const file = built.get(pathname);
    if (file !== undefined && pathname !== '/index.html') return sendFile(request, file, pathname);
    if (pathname.startsWith('/assets/') || /\.\w+$/.test(pathname)) return notFound();
    const page = built.get('/index.html');
    return page === undefined ? notFound() : sendPage(request, page, policy);
  };
  return { answer, prepare: load };
}

async function within<T>(promise: Promise<T>, milliseconds: number): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((done) => {
    timer = setTimeout(() => done(null), milliseconds);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

async function sendFile(request: Request, file: BuiltFile, pathname: string): Promise<Response> {
  const encoding = encodingFor(request);
  // Names in this folder change with their content.
  const cache = pathname.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache';
  return new Response(encoding === null ? file.body : await file.packed(encoding), {
    headers: {
      'content-type': file.type,
      'cache-control': cache,
      'x-content-type-options': 'nosniff',
      vary: 'Accept-Encoding',
      ...(encoding !== null && { 'content-encoding': encoding }),
    },
  });
}

/** The theme is put in here, so that a dark page is never white first. */
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
<title>Harbour Invest</title><body><p>The page is being built for the first time; it will appear by itself.</p></body></html>`;

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
