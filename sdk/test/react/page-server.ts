import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { Sandbox } from '../flows/sandbox.ts';

const STYLES = fileURLToPath(new URL('../../src/react/styles.css', import.meta.url));
const ENTRY = fileURLToPath(new URL('page.tsx', import.meta.url));
const HTML = `<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta name="color-scheme" content="light dark"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Components</title>
<link rel="stylesheet" href="/styles.css"><link rel="icon" href="data:,">
<style>
body { margin: 0; padding: 1rem; background: var(--cw-surface-sunken); font: 16px/1.5 system-ui, sans-serif; }
#root { max-width: 70rem; margin: 0 auto; }
.columns { display: grid; gap: 1.25rem; align-items: start; grid-template-columns: minmax(0, 1fr); }
.column { display: grid; gap: 1.25rem; grid-template-columns: minmax(0, 1fr); }
@media (min-width: 60rem) { .columns { grid-template-columns: minmax(0, 1fr) 26rem; } }
</style></head><body><main id="root"></main><script type="module" src="/page.js"></script></body></html>`;

export type PageServer = { url: string; sizes: Record<string, number>; close(): Promise<void> };

/**
 * Serves a page with the components, proxies the service under the same origin, and registers the origin. `alias` maps
 * package names to folders, for packages that the repository does not have.
 */
export async function startPageServer(
  sandbox: Pick<Sandbox, 'url' | 'addOrigin'>,
  alias: Record<string, string> = {},
): Promise<PageServer> {
  const { outputFiles } = await build({
    entryPoints: { page: ENTRY, styles: STYLES },
    bundle: true,
    splitting: true,
    minify: true,
    write: false,
    format: 'esm',
    outdir: '/',
    target: 'es2022',
    jsx: 'automatic',
    define: { 'process.env.NODE_ENV': '"development"' },
    logLevel: 'error',
    alias,
    // Leaves out WalletConnect's dialog, which the page does not show.
    external: ['@reown/appkit'],
    // Lets packages in other folders find their peer dependencies in the repository.
    nodePaths: [fileURLToPath(new URL('../../../node_modules', import.meta.url))],
  });
  const files = new Map<string, { type: string; body: Uint8Array | string }>();
  for (const { path, contents } of outputFiles) {
    const type = path.endsWith('.css') ? 'text/css' : 'text/javascript';
    files.set(`/${path.split(/[\\/]/).at(-1)}`, { type, body: contents });
  }
  files.set('/', { type: 'text/html; charset=utf-8', body: HTML });
  const server = createServer((incoming, response) => {
    const file = files.get((incoming.url ?? '/').split('?')[0] ?? '/');
    if (file === undefined) return proxy(sandbox.url, incoming, response);
    return response.writeHead(200, { 'content-type': file.type }).end(file.body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await sandbox.addOrigin(url);
  return {
    url,
    sizes: Object.fromEntries([...files].map(([name, { body }]) => [name, body.length])),
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

function proxy(service: string, incoming: IncomingMessage, response: ServerResponse): void {
  const outgoing = request(
    `${service}${incoming.url}`,
    { method: incoming.method, headers: { ...incoming.headers, host: new URL(service).host } },
    (upstream) => {
      response.writeHead(upstream.statusCode ?? 502, upstream.headers);
      upstream.pipe(response);
    },
  );
  outgoing.on('error', () => response.destroy());
  response.on('close', () => outgoing.destroy());
  incoming.pipe(outgoing);
}
