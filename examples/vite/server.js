import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { createHandler, createSignIn, toNode } from '@causeway/sdk/server';

const { CAUSEWAY_URL = 'http://127.0.0.1:8080', PORT = '4000' } = process.env;
const { APP_URL = `http://localhost:${PORT}` } = process.env;
const signIn = createSignIn({
  baseUrl: CAUSEWAY_URL,
  clientId: process.env.CAUSEWAY_CLIENT_ID ?? 'sandbox-partner',
  clientSecret: process.env.CAUSEWAY_CLIENT_SECRET ?? '',
  redirectUri: `${APP_URL}/callback`,
  cookieSecret: process.env.COOKIE_SECRET ?? '',
});
const causeway = toNode(createHandler(signIn, { onError: console.error }));

const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' };

/** Serves the page that `vite build` wrote to `dist`. */
async function servePage(request, response) {
  const { pathname } = new URL(request.url, APP_URL);
  if (pathname === '/settings.json') {
    response.setHeader('content-type', 'application/json');
    return response.end(JSON.stringify({ baseUrl: CAUSEWAY_URL }));
  }
  const file = normalize(pathname === '/' ? '/index.html' : pathname);
  const content = await readFile(join(import.meta.dirname, 'dist', file)).catch(() => null);
  if (content === null) return response.writeHead(404).end();
  response.setHeader('content-type', TYPES[extname(file)] ?? 'application/octet-stream');
  response.end(content);
}

createServer((request, response) => {
  causeway(request, response, () => servePage(request, response));
}).listen(Number(PORT), () => console.log(`Open ${APP_URL}`));
