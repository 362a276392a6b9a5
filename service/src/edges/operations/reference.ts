import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { brotliCompressSync, constants } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../../platform/context/context.ts';
import { etagOf, matchesEtag } from '../../platform/http/replies.ts';
import type { Route } from '../../platform/http/route.ts';
import { renderGuide, renderReference } from '../../platform/pages/docs-page.ts';
import { pageHeaders } from '../../platform/pages/headers.ts';
import { apiDocument } from './api-document.ts';
import { GUIDES, readGuide } from './guides.ts';

/**
 * Allows inline styles, because the API reference sets them at run time. Nothing may be loaded from another origin.
 */
const POLICY =
  "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; base-uri 'none'; frame-ancestors 'none'";

const DOCUMENT = '/docs/openapi.json';
const NAV = [{ href: '/docs', name: 'Reference' }, ...Object.values(GUIDES)];

/**
 * Serves `/openapi.json`, and the documentation at `/docs`, which loads no assets from other hosts. `controls` are the
 * sandbox's routes: `/docs` shows them, `/openapi.json` leaves them out.
 */
export function referencePlugin(ctx: Context, routes: readonly Route[], controls: readonly Route[]) {
  const config = { access: { who: 'public' as const } };
  const isSandbox = ctx.config.profile === 'sandbox';
  let script: Promise<Buffer> | undefined;
  return (app: FastifyInstance): void => {
    app.addHook('onRequest', (request, reply, done) => {
      reply.headers({ ...ctx.securityHeaders, 'x-request-id': request.id });
      done();
    });
    app.get('/openapi.json', { config }, sendDocument(routes));
    app.get(DOCUMENT, { config }, sendDocument([...routes, ...controls]));
    app.get('/docs', { config }, (_request, reply) =>
      reply
        .headers({ ...pageHeaders(), 'content-security-policy': POLICY, 'cache-control': 'no-cache' })
        .type('text/html; charset=utf-8')
        .send(renderReference(NAV, DOCUMENT, isSandbox)),
    );
    app.get('/docs/reference.js', { config }, async (_request, reply) => {
      script ??= readScript();
      return reply
        .headers({ 'content-encoding': 'br', 'cache-control': 'public, max-age=86400' })
        .type('text/javascript; charset=utf-8')
        .send(await script);
    });
    for (const [name, { href, name: title }] of Object.entries(GUIDES)) {
      let page: string | undefined;
      app.get(href, { config }, async (_request, reply) => {
        page ??= renderGuide({ title, nav: NAV, current: href, body: await readGuide(name) });
        return reply
          .headers({ ...pageHeaders(), 'cache-control': 'no-cache' })
          .type('text/html; charset=utf-8')
          .send(page);
      });
    }
  };
}

/** Generates the document once, on the first request. */
function sendDocument(routes: readonly Route[]) {
  let known: { text: string; etag: string } | undefined;
  return (request: FastifyRequest, reply: FastifyReply) => {
    if (known === undefined) {
      const text = JSON.stringify(apiDocument(routes));
      known = { text, etag: etagOf(text) };
    }
    reply.headers({ etag: known.etag, 'cache-control': 'no-cache', 'access-control-allow-origin': '*' });
    if (matchesEtag(request.headers['if-none-match'] ?? '', known.etag)) return reply.code(304).send();
    return reply.type('application/json; charset=utf-8').send(known.text);
  };
}

async function readScript(): Promise<Buffer> {
  const entry = createRequire(import.meta.url).resolve('@scalar/fastify-api-reference');
  const source = await readFile(new URL('./js/standalone.js', `file://${entry}`));
  return brotliCompressSync(source, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } });
}
