import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { brotliCompressSync, constants } from 'node:zlib';
import type { FastifyInstance } from 'fastify';
import type { Context } from '../context.ts';
import { openApiDocument } from '../http/openapi.ts';
import { etagOf, matchesEtag } from '../http/replies.ts';
import type { Route } from '../http/route.ts';

export const VERSION = '0.1.0';

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Causeway API reference</title>
<link rel="icon" href="data:,">
</head>
<body>
<noscript>The API reference requires JavaScript. The same information is in <a href="/openapi.json">openapi.json</a>.</noscript>
<script id="api-reference" data-url="/openapi.json" data-configuration='{"withDefaultFonts":false,"hideClientButton":true,"telemetry":false,"hideDownloadButton":true,"showDeveloperTools":"never"}'></script>
<script src="/docs/reference.js"></script>
</body>
</html>
`;

/** The reference sets inline styles at run time; it may load from and call only this service. */
const POLICY =
  "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; frame-ancestors 'none'";

/** Serves `/openapi.json` and an API reference at `/docs`, with all assets from this service. */
export function referencePlugin(ctx: Context, routes: readonly Route[]) {
  const config = { access: { who: 'public' as const } };
  const document = JSON.stringify(openApiDocument(routes, VERSION));
  const etag = etagOf(document);
  let script: Buffer | undefined;
  return (app: FastifyInstance): void => {
    app.addHook('onRequest', (request, reply, done) => {
      reply.headers({ ...ctx.securityHeaders, 'x-request-id': request.id });
      done();
    });
    app.get('/openapi.json', { config }, (request, reply) => {
      reply.headers({ etag, 'cache-control': 'no-cache', 'access-control-allow-origin': '*' });
      if (matchesEtag(request.headers['if-none-match'] ?? '', etag)) return reply.code(304).send();
      return reply.type('application/json; charset=utf-8').send(document);
    });
    app.get('/docs', { config }, (_request, reply) =>
      reply
        .headers({ 'content-security-policy': POLICY, 'cache-control': 'no-cache' })
        .type('text/html; charset=utf-8')
        .send(PAGE),
    );
    app.get('/docs/reference.js', { config }, async (_request, reply) => {
      script ??= await readScript();
      return reply
        .headers({ 'content-encoding': 'br', 'cache-control': 'public, max-age=86400' })
        .type('text/javascript; charset=utf-8')
        .send(script);
    });
  };
}

async function readScript(): Promise<Buffer> {
  const entry = createRequire(import.meta.url).resolve('@scalar/fastify-api-reference');
  const source = await readFile(new URL('./js/standalone.js', `file://${entry}`));
  return brotliCompressSync(source, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } });
}
